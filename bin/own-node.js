// Finds the Node that is installed with the dependencies. Plain JavaScript for old Node versions.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const platform = process.platform === "win32" ? "win" : process.platform;

/** First version that runs the TypeScript of a checkout directly. */
export const CHECKOUT_MAJOR = 24;

export const isOwnNodeNeeded = Number.parseInt(process.versions.node, 10) < CHECKOUT_MAJOR;

/** Package of Node's binary for this platform. */
export const NODE_PACKAGE = `node-${platform}-${process.arch}`;

/** Returns the path of the binary, or undefined if it is not installed or does not exist for this platform. */
export function ownNode() {
  try {
    const manifest = createRequire(fileURLToPath(import.meta.url)).resolve(`${NODE_PACKAGE}/package.json`);
    const binary = join(dirname(manifest), "bin", platform === "win" ? "node.exe" : "node");
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}
