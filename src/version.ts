import packageJson from "../../package.json" with { type: "json" };

/** The node's name for itself, in the manner of an HTTP user agent. */
export function versionText(): string {
  return `Fanal/v${packageJson.version}/${process.platform}-${process.arch}`;
}
