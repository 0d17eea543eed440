import type { RunningNode } from "../run.ts";

interface Stoppable {
  close(): Promise<void>;
  /** Calls back on an unrecoverable failure. */
  onFailure(callback: (failure: unknown) => void): void;
}

/**
 * Wraps a node as a `RunningNode`. The node ends when it is stopped, on an unrecoverable failure, or if the rest of the
 * startup fails.
 */
export function running(node: Stoppable, start: Promise<void> = Promise.resolve()): RunningNode {
  const { promise: stopped, resolve, reject } = Promise.withResolvers<void>();
  let isEnding = false;
  const fail = (failure: unknown) => {
    if (isEnding) return;
    isEnding = true;
    // An error during closing usually has the same cause as the failure, but a more specific message.
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
