import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { type phase0, type RootHex, type Slot, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { serializeSignedBlock } from "../../../../src/chain/blocks/block-encoding.ts";
import type { BeaconDb, BeaconDbBatch } from "../../../../src/db/beacon-db.ts";

export const config = createBeaconConfig(chainConfig, new Uint8Array(32));

/** A block that was never executed, and a state with it as its latest block. */
export interface LinkedBlock {
  slot: Slot;
  root: RootHex;
  parentRoot: RootHex;
  header: phase0.BeaconBlockHeader;
  bytes: Uint8Array;
  state: Uint8Array;
}

const NO_ROOT = toRootHex(new Uint8Array(32));

/** Creates a block on another one. Blocks of the same slot and parent differ by graffiti. */
export function blockOn(parent: LinkedBlock | null, slot: Slot, graffiti = 0): LinkedBlock {
  const parentRoot = parent?.root ?? NO_ROOT;
  const signed = ssz.phase0.SignedBeaconBlock.defaultValue();
  const { message } = signed;
  message.slot = slot;
  message.parentRoot = fromHex(parentRoot);
  message.body.graffiti = new Uint8Array(32).fill(graffiti);
  const bodyRoot = ssz.phase0.BeaconBlockBody.hashTreeRoot(message.body);
  const state = ssz.phase0.BeaconState.defaultViewDU();
  state.slot = slot;
  state.latestBlockHeader = ssz.phase0.BeaconBlockHeader.toViewDU({
    slot,
    proposerIndex: 0,
    parentRoot: message.parentRoot,
    stateRoot: new Uint8Array(32),
    bodyRoot,
  });
  message.stateRoot = state.hashTreeRoot();
  const header = { ...message, bodyRoot };
  return {
    slot,
    root: toRootHex(ssz.phase0.BeaconBlock.hashTreeRoot(message)),
    parentRoot,
    header,
    bytes: serializeSignedBlock(config, signed),
    state: state.serialize(),
  };
}

/** Creates a chain with one block at each slot. */
export function chainOf(slots: readonly Slot[], parent: LinkedBlock | null = null): LinkedBlock[] {
  const blocks: LinkedBlock[] = [];
  for (const slot of slots) blocks.push(blockOn(blocks.at(-1) ?? parent, slot));
  return blocks;
}

export async function write(db: BeaconDb, change: (batch: BeaconDbBatch) => void): Promise<void> {
  const batch = db.batch();
  change(batch);
  await batch.write();
}

/** Stores a chain: finalized blocks, the state of the last of them, and unfinalized blocks. */
export async function storeChain(
  db: BeaconDb,
  { finalized, hot }: { finalized: readonly LinkedBlock[]; hot: readonly LinkedBlock[] },
): Promise<void> {
  const last = finalized.at(-1)!;
  await write(db, (batch) => {
    for (const { root, bytes } of [...finalized, ...hot]) batch.blocks.put(root, bytes);
    for (const { slot, root } of finalized) batch.finalizedBlocks.put(slot, root);
    for (const { slot, root, parentRoot } of hot) batch.hotBlocks.put(slot, root, parentRoot);
    batch.snapshots.put(last.slot, last.root, last.state);
    batch.meta.putFinalized({ epoch: 0, root: last.root });
    batch.meta.putIdentity({ kind: "test" });
  });
}

/** Four finalized blocks and two hot ones, at slots 0, 1, 2, 4, 5 and 6. */
export function finalizedAndHot() {
  const finalized = chainOf([0, 1, 2, 4]);
  const hot = chainOf([5, 6], finalized.at(-1));
  const [genesis, first, second, last] = finalized as [LinkedBlock, LinkedBlock, LinkedBlock, LinkedBlock];
  const [child, tip] = hot as [LinkedBlock, LinkedBlock];
  return { finalized, hot, genesis, first, second, last, child, tip };
}
