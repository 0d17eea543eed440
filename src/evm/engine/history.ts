import type { ForkPostBellatrix } from "@lodestar/params";
import type { ExecutionPayload, RootHex } from "@lodestar/types";
import { TimeSlice } from "../../async/time-slice.ts";
import type { PayloadContext } from "../../execution/engine.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";

/** A payload with the context provided by its beacon block. */
export interface StoredPayload {
  fork: ForkPostBellatrix;
  payload: ExecutionPayload;
  /** Includes the parent beacon block root in every fork. */
  context: PayloadContext;
}

/** Reads beacon blocks. Missing execution blocks are rebuilt from their payloads. */
export interface PayloadHistory {
  /** Returns the root of the beacon block with the payload, if that block is in fork choice. */
  rootOf(blockHash: RootHex): Promise<RootHex | undefined>;
  /**
   * Returns the root of the beacon block with the payload: the given block or, since gloas, the newest ancestor whose
   * bid commits to the payload. Omitted if every block has a payload.
   */
  holderOf?(blockHash: RootHex, root: RootHex): Promise<RootHex | undefined>;
  read(root: RootHex): Promise<StoredPayload | null>;
}

/** Stored payloads after a block whose state is known. */
interface MissingBlocks {
  base: ExecutedBlock;
  /** Beacon block roots of the payloads, oldest first. */
  roots: readonly RootHex[];
}

/**
 * Collects the stored payloads up to a block, back to the newest block that `find` returns. Returns undefined if one of
 * these payloads is not stored.
 */
export async function collectMissing(
  history: PayloadHistory,
  blockHash: RootHex,
  root: RootHex,
  find: (blockHash: RootHex) => ExecutedBlock | undefined,
): Promise<MissingBlocks | undefined> {
  const roots: RootHex[] = [];
  let [hash, at] = [blockHash, root];
  let base = find(hash);
  while (base === undefined) {
    const holder = history.holderOf ? await history.holderOf(hash, at) : at;
    if (holder === undefined) return undefined;
    at = holder;
    const stored = await history.read(at);
    if (stored === null || toHex(stored.payload.blockHash) !== hash) return undefined;
    roots.push(at);
    hash = toHex(stored.payload.parentHash);
    at = toHex(stored.context.parentBeaconBlockRoot!);
    base = find(hash);
  }
  return { base, roots: roots.reverse() };
}

/** Re-executes stored payloads and yields their blocks. Ends early if a payload is no longer stored. */
export async function* executeMissing(
  history: PayloadHistory,
  { base, roots }: MissingBlocks,
  execute: (parent: ExecutedBlock, stored: StoredPayload) => Promise<ExecutedBlock>,
): AsyncGenerator<ExecutedBlock> {
  const slice = new TimeSlice();
  let block = base;
  for (const root of roots) {
    const stored = await history.read(root);
    if (stored === null) return;
    block = await execute(block, stored);
    yield block;
    await slice.yieldIfDue();
  }
}
