import { SLOTS_PER_EPOCH, ZERO_HASH } from "@lodestar/params";
import { type BeaconStateAllForks, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { type Epoch, type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../chain/anchor.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import { StartError } from "./start-error.ts";

/** A block that the chain must contain. */
export interface CheckpointPin {
  /** In lower case. */
  root: RootHex;
  /** The epoch whose checkpoint the block is, if that is known. */
  epoch: Epoch | undefined;
}

/** The address of the pinned state, where `source` is that of the newest finalized state of a node. */
export function pinnedStateSource(source: string, { epoch }: CheckpointPin): string {
  if (epoch === undefined) return source;
  return source.replace(/\/states\/finalized$/, `/states/${computeStartSlotAtEpoch(epoch)}`);
}

/**
 * Whether the root of the state's newest block commits to the whole state. Once a state has been advanced beyond its block, that
 * root says nothing of what else it holds.
 */
export function isCommittedByBlock({ latestBlockHeader: { stateRoot } }: BeaconStateAllForks): boolean {
  return ssz.Root.equals(stateRoot, ZERO_HASH);
}

/** Throws a `StartError` unless the newest block of the state is the pinned one, and the checkpoint of the pinned epoch. */
export function requirePinned(state: BeaconStateAllForks, { root, epoch }: CheckpointPin, source: string): void {
  const header = latestBlockHeader(state);
  const found = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header));
  if (found !== root) {
    throw unpinned(source, `its newest block is ${found} of slot ${header.slot}, and --checkpoint-root pins ${root}`);
  }
  if (epoch === undefined) return;
  const isCheckpoint =
    header.slot <= computeStartSlotAtEpoch(epoch) && epoch <= Math.ceil(state.slot / SLOTS_PER_EPOCH);
  if (!isCheckpoint) {
    const found = `its newest block is of slot ${header.slot} and it is of slot ${state.slot}`;
    throw unpinned(source, `${found}, which is no checkpoint of epoch ${epoch}, as --checkpoint-root has it`);
  }
}

/** The refusal of a state that the pinned block does not commit to. */
export function uncommitted(source: string): StartError {
  return unpinned(
    source,
    "it is of a later slot than its newest block, so that the root of --checkpoint-root does not prove it; give the state of that block",
  );
}

/** Throws a `StartError` when the finalized chain of a database has another block where the pinned one belongs. */
export async function requirePinnedChain(db: BeaconDb, { root, epoch }: CheckpointPin, dataDir: string): Promise<void> {
  const finalized = await db.meta.getFinalized();
  if (epoch === undefined || finalized === null || finalized.epoch < epoch) return;
  const stored = await db.finalizedBlocks.lastAtOrBefore(computeStartSlotAtEpoch(epoch));
  if (stored === null || stored.root === root) return;
  throw new StartError(
    "otherChain",
    `The data directory ${dataDir} holds a chain whose checkpoint of epoch ${epoch} is ${stored.root}, and --checkpoint-root pins ${root}.`,
  );
}

function unpinned(source: string, reason: string): StartError {
  return new StartError("unreadableInput", `The state ${source} cannot be used: ${reason}.`);
}
