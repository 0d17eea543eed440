import { type SignedBeaconBlock, sszTypesFor } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { bidOf } from "../../../../src/chain/blocks/bid.ts";
import type { BeaconChain } from "../../../../src/chain/chain.ts";
import { Pubkeys } from "../../../../src/chain/pubkeys/pubkeys.ts";
import { advanceToSlot } from "../../../../src/chain/states/advance.ts";
import { withCaches } from "../../../../src/chain/states/cached-state.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";
import type { VectorCase } from "../vector-case.ts";
import { isRefusal, VectorChain } from "../vector-chain.ts";
import { forkBefore, vectorConfig } from "../vector-config.ts";
import { expectPost, forkOf, readState } from "./vector-states.ts";

interface BlocksMeta {
  blocks_count: number;
  /** Cases of `transition`: epoch of the upgrade, and index of the last block before it. */
  fork_epoch?: number;
  fork_block?: number;
}

/**
 * Runs a case that consists of blocks: those of `sanity/blocks`, `finality`, `random` and `transition`. A case without
 * a state after it has a block that is invalid.
 */
export async function runBlocks(vector: VectorCase): Promise<void> {
  const { blocks_count, fork_epoch = 0, fork_block = -1 } = vector.yaml<BlocksMeta>("meta");
  const fork = forkOf(vector);
  const before = vector.path.runner === "transition" ? forkBefore(fork) : fork;
  const state = readState(vector, "pre", before);
  // The cases have blocks with blobs, but no columns, so that no block may need them any more.
  const changes = { MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS: -1 };
  const config = vectorConfig(vector, state.genesisValidatorsRoot, { forkEpoch: fork_epoch, changes });
  const vectorChain = await VectorChain.open({ config, state });
  let { root } = vectorChain.chain.head;
  try {
    for (let index = 0; index < blocks_count; index++) {
      const types = sszTypesFor(index <= fork_block ? before : fork);
      const signed: SignedBeaconBlock = vector.ssz(`blocks_${index}`, types.SignedBeaconBlock);
      try {
        revealParentPayload(vectorChain.chain, signed);
        ({ root } = await vectorChain.importInSlot(signed));
      } catch (error) {
        if (!vector.has("post") && isRefusal(error)) return;
        throw error;
      }
    }
    if (!vector.has("post")) throw new Error("The case is invalid, but its blocks were accepted.");
    expectPost(vector, await vectorChain.chain.states.afterBlock(root));
  } finally {
    await vectorChain.close();
  }
}

/** Opens the chain before a case of `sanity/slots`, and advances it. */
export async function runSlots(vector: VectorCase): Promise<void> {
  const state = readState(vector, "pre");
  const config = vectorConfig(vector, state.genesisValidatorsRoot);
  const pubkeyCache = new Pubkeys({ logger: createRecordingLogger() });
  try {
    const cached = await withCaches(state, { config, pubkeyCache });
    expectPost(vector, await advanceToSlot(cached, state.slot + vector.yaml<number>("slots")));
  } finally {
    await pubkeyCache.close();
  }
}

/** The cases have no envelopes: a block that is built on the payload of its parent shows that it was revealed. */
function revealParentPayload({ forkChoice }: BeaconChain, { message }: SignedBeaconBlock): void {
  const parentRoot = toRootHex(message.parentRoot);
  const parent = forkChoice.get(parentRoot);
  const bid = bidOf(message);
  if (!bid || parent?.bid?.blockHash !== toRootHex(bid.parentBlockHash)) return;
  if (!forkChoice.isPayloadVerified(parentRoot)) forkChoice.onPayload(parentRoot, { status: "valid", blockNumber: 0 });
}
