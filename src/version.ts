import packageJson from "../package.json" with { type: "json" };

/** The version this copy of the program was released as, such as `0.1.0`. */
export const VERSION: string = packageJson.version;

/** The node's name for itself, in the manner of an HTTP user agent. */
export function versionText(): string {
  return `Fanal/v${VERSION}/${process.platform}-${process.arch}`;
}
