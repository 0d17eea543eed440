import type { RunningNode } from "../run.ts";

interface Stoppable {
  close(): Promise<void>;
  /** Calls back when the node cannot go on. */
  onFailure(callback: (failure: unknown) => void): void;
}

/** A node that runs until it is stopped, until it cannot go on, or until the rest of its start has failed. */
export function running(node: Stoppable, start: Promise<void> = Promise.resolve()): RunningNode {
  const { promise: stopped, resolve, reject } = Promise.withResolvers<void>();
  let isEnding = false;
  const fail = (failure: unknown) => {
    if (isEnding) return;
    isEnding = true;
    // What keeps the node from being closed in good order is mostly why it failed, and is told in better words.
    node.close().then(() => reject(failure), reject);
  };
  node.onFailure(fail);
  start.catch(fail);
  return {
    stopped,
    async stop() {
      isEnding = true;
      await node.close();
      resolve();
    },
  };
}
