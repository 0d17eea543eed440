import { type NodeProcess, withNode } from "../support/node-process.ts";

export const VALIDATORS = 64;
export const FORK = "fulu";

/** Runs the work against the real program with a paused dev chain. */
export function withPausedNode<T>(work: (node: NodeProcess) => Promise<T>, fork = FORK): Promise<T> {
  return withNode(["dev", "--validators", String(VALIDATORS), "--fork", fork, "--speed", "0"], work);
}
