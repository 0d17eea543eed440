import { SLOTS_PER_EPOCH, ZERO_HASH } from "@lodestar/params";
import { type BeaconStateAllForks, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { type Epoch, type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../../chain/anchor/anchor.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { StartError } from "../start-error.ts";

/** A block that the chain must contain (`--checkpoint-root`). */
export interface CheckpointPin {
  /** In lower case. */
  root: RootHex;
  /** Epoch of the checkpoint, if known. */
  epoch: Epoch | undefined;
}

/** Converts the URL of a beacon node's finalized state to the URL of the pinned state. */
export function pinnedStateUrl(source: string, { epoch }: CheckpointPin): string {
  if (epoch === undefined) return source;
  return source.replace(/\/states\/finalized$/, `/states/${computeStartSlotAtEpoch(epoch)}`);
}

/**
 * Returns true if the state is the post-state of its latest block, so that the block root commits to it. The block root
 * does not prove a state that was advanced by slot processing.
 */
export function isPostBlockState({ latestBlockHeader: { stateRoot } }: BeaconStateAllForks): boolean {
  return ssz.Root.equals(stateRoot, ZERO_HASH);
}

/**
 * Throws a `StartError` unless the latest block of the state is the pinned block and, if an epoch is pinned, its
 * checkpoint.
 */
export function verifyPin(state: BeaconStateAllForks, { root, epoch }: CheckpointPin, source: string): void {
  const header = latestBlockHeader(state);
  const found = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header));
  if (found !== root) {
    throw stateError(source, `its latest block is ${found} at slot ${header.slot}, but --checkpoint-root is ${root}`);
  }
  if (epoch === undefined) return;
  const isCheckpoint =
    header.slot <= computeStartSlotAtEpoch(epoch) && epoch <= Math.ceil(state.slot / SLOTS_PER_EPOCH);
  if (!isCheckpoint) {
    const found = `it is at slot ${state.slot} with the latest block at slot ${header.slot}`;
    throw stateError(source, `${found}, which is not the checkpoint of epoch ${epoch} of --checkpoint-root`);
  }
}

/** Returns the error for a state that the pinned block does not commit to. */
export function unprovenState(source: string): StartError {
  return stateError(
    source,
    "it is at a later slot than its latest block, so --checkpoint-root does not prove it; use the post-state of that block",
  );
}

/** Throws a `StartError` if the finalized chain in a database has a different checkpoint at the pinned epoch. */
export async function verifyPinnedChain(db: BeaconDb, { root, epoch }: CheckpointPin, dataDir: string): Promise<void> {
  const finalized = await db.meta.getFinalized();
  if (epoch === undefined || finalized === null || finalized.epoch < epoch) return;
  const stored = await db.finalizedBlocks.lastAtOrBefore(computeStartSlotAtEpoch(epoch));
  if (stored === null || stored.root === root) return;
  throw new StartError(
    "otherChain",
    `The data directory ${dataDir} holds a chain with checkpoint ${stored.root} at epoch ${epoch}, but --checkpoint-root is ${root}.`,
  );
}

function stateError(source: string, reason: string): StartError {
  return new StartError("unreadableInput", `The state ${source} cannot be used: ${reason}.`);
}
