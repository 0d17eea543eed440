import { NodeProcess } from "../support/node-process.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

/** Whatever is measured is measured on such a chain. */
export const VALIDATORS = 64;
export const FORK = "fulu";

/** Runs the work with the real program, whose chain stands still until it is moved. */
export function withPausedNode<T>(work: (node: NodeProcess) => Promise<T>): Promise<T> {
  return withTempDirectory(async (directory) => {
    const chain = ["--validators", String(VALIDATORS), "--fork", FORK, "--speed", "0"];
    const node = await NodeProcess.start("The program", ["dev", "--data-dir", directory, ...chain]);
    try {
      return await work(node);
    } finally {
      await node.stop();
    }
  });
}
