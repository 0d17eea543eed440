import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { blockRoot } from "../chain/blocks/block-root.ts";
import type { Batch, Mistaken } from "./batch.ts";
import type { SyncChain } from "./sync-chain.ts";

/** Whose answers to the batches were wrong, if the chain goes on from the given block, which is known. */
export function mistakenPeers(
  batches: readonly Batch[],
  root: RootHex,
  { forkChoice, config }: Pick<SyncChain, "forkChoice" | "config">,
): Mistaken {
  const rootAt = (slot: Slot) => forkChoice.ancestorAtSlot(root, slot);
  const rootOf = ({ message }: SignedBeaconBlock) => blockRoot(config, message);
  const verdicts = batches.flatMap((batch) => {
    const lastRoot = batch.isDisputed ? rootAt(batch.lastSlot) : undefined;
    const last = lastRoot === undefined ? undefined : forkChoice.get(lastRoot);
    // Where fork choice does not reach back any more, nothing can be said.
    if (last === undefined) return [];
    return batch.mistaken({ last: last.slot < batch.range.startSlot ? null : last.root, rootAt, rootOf });
  });
  return {
    withheld: verdicts.flatMap(({ withheld }) => withheld),
    strayed: verdicts.flatMap(({ strayed }) => strayed),
  };
}
