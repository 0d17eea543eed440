import { type NodeProcess, withNode } from "../support/node-process.ts";

export const VALIDATORS = 64;
export const FORK = "fulu";

/** Runs the work against the real program with a paused dev chain. */
export function withPausedNode<T>(work: (node: NodeProcess) => Promise<T>): Promise<T> {
  return withNode(["dev", "--validators", String(VALIDATORS), "--fork", FORK, "--speed", "0"], work);
}
