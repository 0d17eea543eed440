import { PublicKey } from "@chainsafe/blst";
import { BUILDER_INDEX_SELF_BUILD, PAYLOAD_BUILDER_VERSION } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateGloas,
  canBuilderCoverBid,
  createSingleSignatureSetFromComponents,
  getCurrentEpoch,
  getExecutionPayloadBidSigningRoot,
  getRandaoMix,
  isActiveBuilder,
} from "@lodestar/state-transition";
import type { gloas, RootHex } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { PayloadBase } from "../payloads/parent-payloads.ts";

/** The block that a bid is made for. */
export interface BidExpectation {
  parentRoot: RootHex;
  /** Fee recipient of the proposer. */
  feeRecipient: Uint8Array;
  base: PayloadBase;
}

/** A payload's gas limit may differ from its parent's by less than this fraction (EIP-1559). */
const GAS_LIMIT_BOUND = 1024n;

/**
 * Returns why a proposer cannot use a bid of a builder, as a sentence (gloas/beacon-chain.md,
 * process_execution_payload_bid; gloas/p2p-interface.md, execution_payload_bid). Does not check the signature.
 * `maxExecutionPayment` is what the proposer trusts the builder to pay on the execution layer, in Gwei.
 */
export function faultOfExecutionBid(
  bid: gloas.ExecutionPayloadBid,
  { parentRoot, feeRecipient, base }: BidExpectation,
  maxExecutionPayment = 0n,
): string | undefined {
  const state = base.operationState as CachedBeaconStateGloas;
  const { builderIndex, value } = bid;
  if (builderIndex === BUILDER_INDEX_SELF_BUILD) return "The bid is a self-build.";
  if (builderIndex >= state.builders.length) return `There is no builder ${builderIndex}.`;
  const builder = state.builders.getReadonly(builderIndex);
  if (!isActiveBuilder(builder, state.finalizedCheckpoint.epoch)) return `Builder ${builderIndex} is not active.`;
  if (builder.version !== PAYLOAD_BUILDER_VERSION) return `Builder ${builderIndex} has version ${builder.version}.`;
  if (!canBuilderCoverBid(state, builderIndex, value)) {
    return `The balance of builder ${builderIndex} does not cover the bid of ${value} Gwei.`;
  }
  if (bid.executionPayment > maxExecutionPayment) {
    return maxExecutionPayment === 0n
      ? "The bid has an execution payment, which the proposer cannot verify."
      : `The bid has an execution payment of ${bid.executionPayment} Gwei, more than ${maxExecutionPayment}.`;
  }
  const maxBlobs = state.config.getMaxBlobsPerBlock(getCurrentEpoch(state));
  if (bid.blobKzgCommitments.length > maxBlobs) {
    return `The bid has ${bid.blobKzgCommitments.length} blobs, but the limit is ${maxBlobs}.`;
  }
  return (
    faultOfGasLimit(bid.gasLimit, base.gasLimit) ??
    differs("slot", String(bid.slot), String(state.slot)) ??
    differs("parent block root", toRootHex(bid.parentBlockRoot), parentRoot) ??
    differs("parent block hash", toRootHex(bid.parentBlockHash), toRootHex(base.parent.blockHash)) ??
    differs("prev_randao", toRootHex(bid.prevRandao), toRootHex(getRandaoMix(state, getCurrentEpoch(state)))) ??
    (byteArrayEquals(bid.feeRecipient, feeRecipient) ? undefined : "The bid does not pay the proposer's fee recipient.")
  );
}

function faultOfGasLimit(gasLimit: bigint, parentGasLimit: bigint): string | undefined {
  const difference = gasLimit > parentGasLimit ? gasLimit - parentGasLimit : parentGasLimit - gasLimit;
  if (difference === 0n || difference < parentGasLimit / GAS_LIMIT_BOUND) return undefined;
  return `The gas limit ${gasLimit} of the bid is too far from its parent's, ${parentGasLimit}.`;
}

function differs(what: string, actual: string, expected: string): string | undefined {
  return actual === expected ? undefined : `The ${what} of the bid is ${actual}, expected ${expected}.`;
}

/** Verifies the signature of a bid by a builder in the registry. */
export async function verifyBidSignature(
  bls: Pick<BlsVerifier, "verify">,
  state: CachedBeaconStateAllForks,
  { message, signature }: gloas.SignedExecutionPayloadBid,
): Promise<boolean> {
  const { builders, config } = state as CachedBeaconStateGloas;
  try {
    const pubkey = PublicKey.fromBytes(builders.getReadonly(message.builderIndex).pubkey);
    const signingRoot = getExecutionPayloadBidSigningRoot(config, message);
    return await bls.verify([createSingleSignatureSetFromComponents(pubkey, signingRoot, signature)]);
  } catch {
    return false;
  }
}
