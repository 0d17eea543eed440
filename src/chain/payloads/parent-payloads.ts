import { GENESIS_SLOT } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateGloas,
} from "@lodestar/state-transition";
import { type capella, type gloas, type RootHex, ssz } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import { LruMap } from "../../collections/lru-map.ts";
import type { ParentPayload } from "../../execution/engine.ts";
import { bidOf } from "../blocks/bid.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { executionBlockOf, type ForkChoiceNode } from "../fork-choice/types.ts";
import type { PayloadStore } from "./payload-store.ts";

const NUMBERS_KEPT = 64;

interface ParentPayloadsParts {
  forkChoice: Pick<ForkChoice, "payloadBlock">;
  blocks: Pick<BlockStore, "signedByRoot">;
  payloadStore: PayloadStore;
}

/** What a block since gloas and its payload are built on. */
export interface PayloadBase {
  parent: ParentPayload;
  /** Gas limit of the parent payload; of the latest bid, if that payload is unknown. */
  gasLimit: bigint;
  withdrawals: capella.Withdrawal[];
  /** Requests of the parent's payload, which the block applies; empty if the block is not built on that payload. */
  parentExecutionRequests: gloas.ExecutionRequests;
  /** State on which the block's operations are processed: after the parent's payload. */
  operationState: CachedBeaconStateAllForks;
}

/** Finds the payload that the next payload is built on (gloas/validator.md, ExecutionPayload). */
export class ParentPayloads {
  readonly #parts: ParentPayloadsParts;
  readonly #numbers = new LruMap<RootHex, number>(NUMBERS_KEPT);

  constructor(parts: ParentPayloadsParts) {
    this.#parts = parts;
  }

  /** @param preState post-state of the parent, advanced to the slot of the block */
  async baseFor(preState: CachedBeaconStateAllForks, parent: ForkChoiceNode): Promise<PayloadBase> {
    const { latestExecutionPayloadBid: bid } = preState as CachedBeaconStateGloas;
    const blockHash = parent.payloadStatus === "full" ? bid.blockHash : bid.parentBlockHash;
    const blockNumber = await this.#numberOf(blockHash, parent);
    const base = payloadBase(preState, await this.#requestsOf(preState, parent), { blockHash, blockNumber });
    if (parent.payloadStatus === "full") return base;
    return { ...base, gasLimit: (await this.#gasLimitOf(blockHash, parent)) ?? base.gasLimit };
  }

  /** Returns the gas limit of the payload that a node is built on, unless it is unknown. */
  async #gasLimitOf(blockHash: Uint8Array, node: ForkChoiceNode): Promise<bigint | undefined> {
    const { forkChoice, blocks, payloadStore } = this.#parts;
    const block = forkChoice.payloadBlock(node);
    const signed = block && (await blocks.signedByRoot(block.root));
    const payload = signed && (await payloadStore.payloadOf(signed, block.root))?.payload;
    return payload && byteArrayEquals(payload.blockHash, blockHash) ? BigInt(payload.gasLimit) : undefined;
  }

  /**
   * Returns the withdrawals of the payload of a block that is built on a node.
   *
   * @param preState post-state of the parent, advanced to the slot of the block
   */
  async withdrawalsOn(preState: CachedBeaconStateAllForks, parent: ForkChoiceNode): Promise<capella.Withdrawal[]> {
    const { latestBlockHash: blockHash } = preState as CachedBeaconStateGloas;
    const requests = await this.#requestsOf(preState, parent);
    return payloadBase(preState, requests, { blockHash, blockNumber: null }).withdrawals;
  }

  /** Returns the requests in the node's own payload; null without one. A block from before gloas has applied its own. */
  async #requestsOf(
    preState: CachedBeaconStateAllForks,
    { root, payloadStatus }: ForkChoiceNode,
  ): Promise<gloas.ExecutionRequests | null> {
    if (payloadStatus !== "full") return null;
    const { executionRequestsRoot } = (preState as CachedBeaconStateGloas).latestExecutionPayloadBid;
    const envelope = await this.#parts.payloadStore.get(root);
    if (envelope) return envelope.message.executionRequests;
    const none = ssz.gloas.ExecutionRequests.defaultValue();
    if (byteArrayEquals(ssz.gloas.ExecutionRequests.hashTreeRoot(none), executionRequestsRoot)) return none;
    throw new Error(`The payload of block ${root} is not stored, but the next block needs its execution requests.`);
  }

  /** Returns the number of the payload on the node's chain; null if it is unknown, for example after a checkpoint. */
  async #numberOf(blockHash: Uint8Array, node: ForkChoiceNode): Promise<number | null> {
    const hash = toRootHex(blockHash);
    const block = this.#parts.forkChoice.payloadBlock(node);
    const known = block && executionBlockOf(block);
    if (known?.blockHash === hash) return known.blockNumber;
    const cached = this.#numbers.get(hash);
    if (cached !== undefined) return cached;
    const number = await this.#storedNumber(blockHash, node.root);
    if (number !== null) this.#numbers.set(hash, number);
    return number;
  }

  /** Looks for the payload in the block and its ancestors. */
  async #storedNumber(blockHash: Uint8Array, from: RootHex): Promise<number | null> {
    const { blocks, payloadStore } = this.#parts;
    for (let root = from; ; ) {
      const signed = await blocks.signedByRoot(root);
      if (!signed) return null;
      const bid = bidOf(signed.message);
      const newPayload =
        bid && !byteArrayEquals(bid.blockHash, blockHash) ? null : await payloadStore.payloadOf(signed, root);
      if (newPayload && byteArrayEquals(newPayload.payload.blockHash, blockHash)) return newPayload.payload.blockNumber;
      // The chain starts from block 0 of the execution chain.
      if (signed.message.slot === GENESIS_SLOT) return 0;
      root = toRootHex(signed.message.parentRoot);
    }
  }
}

/**
 * Returns the base on a parent payload with the given requests or, for null, on the payload before: then the withdrawals
 * of the payload that did not arrive are due again.
 */
export function payloadBase(
  preState: CachedBeaconStateAllForks,
  requests: gloas.ExecutionRequests | null,
  parent: ParentPayload,
): PayloadBase {
  const state = preState as CachedBeaconStateGloas;
  const gasLimit = state.latestExecutionPayloadBid.gasLimit;
  if (requests === null) {
    return {
      parent,
      gasLimit,
      withdrawals: state.payloadExpectedWithdrawals.getAllReadonlyValues(),
      parentExecutionRequests: ssz.gloas.ExecutionRequests.defaultValue(),
      operationState: preState,
    };
  }
  const applied = new BeaconStateView(preState).withParentPayloadApplied(requests);
  if (!(applied instanceof BeaconStateView)) throw new TypeError("Unexpected state view of the library.");
  return {
    parent,
    gasLimit,
    withdrawals: applied.getExpectedWithdrawals().expectedWithdrawals,
    parentExecutionRequests: requests,
    operationState: applied.cachedState,
  };
}
