import type { RootHex } from "@lodestar/types";
import type { Batch } from "./batch.ts";
import { blockRoot } from "./block-root.ts";
import type { SyncChain } from "./sync-chain.ts";

/**
 * Whose answers to the batches were wrong, if the chain goes on from the given block, which is known. What is needed of
 * fork choice is looked up at once, since finality may prune it; the answers are compared when the function is called.
 */
export function mistakenPeers(
  batches: readonly Batch[],
  root: RootHex,
  { forkChoice, config }: Pick<SyncChain, "forkChoice" | "config">,
): () => Set<string> {
  const verdicts = batches.map((batch) => {
    const lastRoot = forkChoice.ancestorAtSlot(root, batch.lastSlot);
    const last = lastRoot === undefined ? undefined : forkChoice.get(lastRoot);
    // Where fork choice does not reach back any more, nothing can be said.
    if (last === undefined) return () => new Set<string>();
    const lastOfBatch = last.slot < batch.range.startSlot ? null : last.root;
    return () => batch.takeMistaken(lastOfBatch, ({ message }) => blockRoot(config, message));
  });
  return () => new Set(verdicts.flatMap((verdict) => [...verdict()]));
}
