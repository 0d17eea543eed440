import { createRequire } from "node:module";

// Not an import, which the compiler would take for a part of the sources.
const packageJson: { version: string } = createRequire(import.meta.url)("../package.json");

/** The version this copy of the program was released as, such as `0.1.0`. */
export const VERSION: string = packageJson.version;

/** The node's two letters among those of other clients; none that execution-apis reserves (src/engine/identification.md). */
export const CLIENT_CODE = "FA";

/** Eight hex digits in place of the commit, which a released package does not know: two each of major, minor and patch. */
export const CLIENT_COMMIT = VERSION.split(/[.+-]/)
  .slice(0, 3)
  .map((part) => (Number(part) % 256).toString(16).padStart(2, "0"))
  .join("")
  .padEnd(8, "0");

/** The node's name for itself, in the manner of an HTTP user agent. */
export function versionText(): string {
  return `Fanal/v${VERSION}/${process.platform}-${process.arch}`;
}
