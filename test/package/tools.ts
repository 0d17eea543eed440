import type { TestContext } from "vitest";
import { tryCachedPackage } from "../../scripts/cached-package.js";

const BUN_ARCHITECTURE = process.arch === "arm64" ? "aarch64" : process.arch;
const DENO_PLATFORM = `${process.platform}-${process.arch}${process.platform === "linux" ? "-glibc" : ""}`;

/** Programs from npm that the package is tested with. Binaries come from the package of the platform. */
const TOOLS = {
  bun: { name: `@oven/bun-${process.platform}-${BUN_ARCHITECTURE}`, version: "1.4.4", file: "bin/bun" },
  deno: { name: `@deno/${DENO_PLATFORM}`, version: "2.9.5", file: "deno" },
  pnpm: { name: `@pnpm/exe.${process.platform}-${process.arch}`, version: "12.18.0", file: "pnpm" },
  typescript: { name: "typescript", version: "5.9.3", file: "bin/tsc" },
} as const;

/** Returns the path of a program, which the first use installs. Skips the test where it does not install. */
export function toolPath(tool: keyof typeof TOOLS, context: TestContext): string {
  const { name, version, file } = TOOLS[tool];
  const { program, problem } = tryCachedPackage({
    title: `${tool} ${version}`,
    folder: `${tool}-${version}`,
    size: "one package",
    manifest: { name: `fanal-test-${tool}`, dependencies: { [name]: version } },
    entry: [...name.split("/"), ...file.split("/")],
  });
  return program ?? context.skip(problem);
}
