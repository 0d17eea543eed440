/** A native package whose binary for this platform is missing or does not load. */
export interface MissingNativeModule {
  /** The package that the program depends on, such as `@chainsafe/blst`. */
  package: string;
  /** See `platformName`. */
  platform: string;
  /** The system's error if the binary exists but does not load. */
  reason?: string;
}

interface Platform {
  platform: string;
  arch: string;
  /** Undefined on musl, and on systems other than Linux. */
  glibcVersion?: string;
}

/** Suffix of packages with prebuilt binaries, such as `@chainsafe/blst-linux-x64-gnu`. */
const PLATFORM_SUFFIX = /-(?:aix|android|darwin|freebsd|linux|openharmony|sunos|win32)-[a-z0-9-]+$/;

/** Thrown by the loaders of NAPI-RS and node-gyp-build when they find no binary. */
const NO_BINARY =
  /^(?:Cannot find|Failed to load) native binding|^No native build was found|^Unsupported (?:OS|architecture)\b/;

const NO_MODULE = /^Cannot find module '([^']+)'/;

/** Matches a package name in a path. Skips package manager folders such as `.pnpm`. */
const IN_NODE_MODULES = /node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/.@\s][^\\/\s:'"]*)/g;

/** Detects the load error of a native package without a usable binary. Returns undefined for any other error. */
export function missingNativeModule(error: unknown, platform?: string): MissingNativeModule | undefined {
  if (!(error instanceof Error) || !isLoaderError(error)) return undefined;
  const name = packageNamedIn(error);
  if (name === undefined) return undefined;
  const failedLoad = withCauses(error).find(({ message }) => !NO_BINARY.test(message) && !NO_MODULE.test(message));
  const reason = failedLoad?.message.trim().split("\n")[0];
  return { package: name, platform: platform ?? platformName(), ...(reason !== undefined && { reason }) };
}

/** Formats the problem and the fix as one line. */
export function missingNativeModuleMessage({ package: name, platform, reason }: MissingNativeModule): string {
  const problem =
    reason === undefined
      ? `The native package ${name} is not installed for ${platform}`
      : `The native package ${name} does not load on ${platform}: ${reason.replace(/\.$/, "")}`;
  return (
    `${problem}. Reinstall the dependencies with optional packages (npm install --include=optional), ` +
    "or see docs/reference/platforms.md."
  );
}

/** Returns Node's platform name, including the C library on Linux: `linux-arm64-musl`, `darwin-arm64`. */
export function platformName({ platform, arch, glibcVersion }: Platform = thisPlatform()): string {
  if (platform !== "linux") return `${platform}-${arch}`;
  return `${platform}-${arch}-${glibcVersion === undefined ? "musl" : "glibc"}`;
}

function thisPlatform(): Platform {
  const { platform, arch } = process;
  if (platform !== "linux") return { platform, arch };
  // The network section resolves host names, which may take seconds.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
  return { platform, arch, glibcVersion: header.glibcVersionRuntime };
}

function isLoaderError({ message, code }: Error & { code?: unknown }): boolean {
  if (code === "ERR_DLOPEN_FAILED" || NO_BINARY.test(message)) return true;
  return code === "MODULE_NOT_FOUND" && PLATFORM_SUFFIX.test(NO_MODULE.exec(message)?.[1] ?? "");
}

/** Returns the error and its causes. Loaders report their attempts as an array or a chain of causes. */
function withCauses(error: Error): Error[] {
  const { cause } = error;
  const causes: unknown[] = Array.isArray(cause) ? cause : [cause];
  return [error, ...causes.filter((each) => each instanceof Error).flatMap(withCauses)];
}

/** Finds the package name in the paths of the message and the stack trace. */
function packageNamedIn({ message, stack = message }: Error): string | undefined {
  for (const [, name = ""] of stack.matchAll(IN_NODE_MODULES)) {
    if (name !== "node-gyp-build") return name.replace("\\", "/").replace(PLATFORM_SUFFIX, "");
  }
  return undefined;
}
