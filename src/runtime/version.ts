import { createRequire } from "node:module";

// Not imported, so that the compiler does not treat it as a source file.
const packageJson: { version: string } = createRequire(import.meta.url)("../../package.json");

/** Release version, such as `1.0.0-rc.1`. */
export const VERSION: string = packageJson.version;

/** Two-letter client code. Not one of the codes that execution-apis reserves (src/engine/identification.md). */
export const CLIENT_CODE = "FA";

/**
 * Eight hex digits in place of the commit, which is unknown in a package: two each for major, minor and patch version.
 */
export const CLIENT_COMMIT = VERSION.split(/[.+-]/)
  .slice(0, 3)
  .map((part) => (Number(part) % 256).toString(16).padStart(2, "0"))
  .join("")
  .padEnd(8, "0");

/** Returns the client version as an HTTP user agent: `Fanal/v1.0.0-rc.1/linux-x64`. */
export function clientVersion(): string {
  return `Fanal/v${VERSION}/${process.platform}-${process.arch}`;
}
