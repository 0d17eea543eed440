import type { ForkPostBellatrix } from "@lodestar/params";
import type { ExecutionPayload, RootHex } from "@lodestar/types";
import { TimeSlice } from "../../async/time-slice.ts";
import type { PayloadContext } from "../../execution/engine.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";

/** A payload with what its beacon block says about it. */
export interface StoredPayload {
  fork: ForkPostBellatrix;
  payload: ExecutionPayload;
  /** Its parent root is given in every fork. */
  context: PayloadContext;
}

/** Reads beacon blocks. Missing execution blocks are rebuilt from their payloads. */
export interface PayloadHistory {
  /** Returns the root of the block with that payload, if it is in fork choice. */
  rootOf(blockHash: RootHex): Promise<RootHex | undefined>;
  read(root: RootHex): Promise<StoredPayload | null>;
}

interface RebuildParts {
  history: PayloadHistory;
  /** Returns a block whose world is known. */
  find(blockHash: RootHex): ExecutedBlock | undefined;
  execute(parent: ExecutedBlock, stored: StoredPayload): Promise<ExecutedBlock>;
}

/** Executes stored payloads up to a block again. Returns undefined if one of them is not stored. */
export async function rebuild(
  blockHash: RootHex,
  root: RootHex,
  { history, find, execute }: RebuildParts,
): Promise<ExecutedBlock | undefined> {
  const missing: RootHex[] = [];
  let [hash, at] = [blockHash, root];
  let block = find(hash);
  while (block === undefined) {
    const stored = await history.read(at);
    if (stored === null || toHex(stored.payload.blockHash) !== hash) return undefined;
    missing.push(at);
    hash = toHex(stored.payload.parentHash);
    at = toHex(stored.context.parentBeaconBlockRoot!);
    block = find(hash);
  }
  const slice = new TimeSlice();
  for (const next of missing.reverse()) {
    const stored = await history.read(next);
    if (stored === null) return undefined;
    block = await execute(block, stored);
    await slice.yieldIfDue();
  }
  return block;
}
