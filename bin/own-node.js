// Where the Node is that is installed with the other dependencies. Plain JavaScript that old Node versions can read.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const platform = process.platform === "win32" ? "win" : process.platform;

/** The binary comes in a package for each platform, whose hash is in the lock file. */
export const NODE_PACKAGE = `node-${platform}-${process.arch}`;

/** Undefined where it is not installed, or where there is none for this platform. */
export function ownNode() {
  try {
    const manifest = createRequire(fileURLToPath(import.meta.url)).resolve(`${NODE_PACKAGE}/package.json`);
    const binary = join(dirname(manifest), "bin", platform === "win" ? "node.exe" : "node");
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}
