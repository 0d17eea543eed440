import { NodeProcess } from "../support/node-process.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

export const VALIDATORS = 64;
export const FORK = "fulu";

/** Runs the work against the real program with a paused dev chain. */
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
