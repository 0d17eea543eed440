import type { BeaconConfig } from "@lodestar/config";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateGloas,
  computeTimeAtSlot,
  getExecutionPayloadEnvelopeSignatureSet,
} from "@lodestar/state-transition";
import { type gloas, ssz } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { latestBlock } from "../states/latest-block.ts";

/**
 * Returns why an envelope does not match its block, as a clause (gloas/fork-choice.md,
 * verify_execution_payload_envelope). Does not check the signature and the execution. `postState` is the post-state of
 * the block, which may be advanced: an anchor state can be later than its block.
 */
export function faultOfEnvelope(
  config: BeaconConfig,
  postState: CachedBeaconStateAllForks,
  { payload, executionRequests, builderIndex, beaconBlockRoot, parentBeaconBlockRoot }: gloas.ExecutionPayloadEnvelope,
): string | undefined {
  const state = postState as CachedBeaconStateGloas;
  const { latestBlockHeader: header, latestExecutionPayloadBid: bid } = state;
  const requestsRoot = ssz.gloas.ExecutionRequests.hashTreeRoot(executionRequests);
  const withdrawalsRoot = ssz.gloas.Withdrawals.hashTreeRoot(payload.withdrawals);
  return (
    differs("block root", toRootHex(beaconBlockRoot), latestBlock(state).root) ??
    differs("parent block root", toRootHex(parentBeaconBlockRoot), toRootHex(header.parentRoot)) ??
    differs("builder index", builderIndex, bid.builderIndex) ??
    differs("prev_randao", toRootHex(payload.prevRandao), toRootHex(bid.prevRandao)) ??
    differs("gas limit", String(payload.gasLimit), String(bid.gasLimit)) ??
    differs("block hash", toRootHex(payload.blockHash), toRootHex(bid.blockHash)) ??
    differs("root of the execution requests", toRootHex(requestsRoot), toRootHex(bid.executionRequestsRoot)) ??
    differs("slot number", payload.slotNumber, bid.slot) ??
    differs("parent hash", toRootHex(payload.parentHash), toRootHex(state.latestBlockHash)) ??
    differs("timestamp", payload.timestamp, computeTimeAtSlot(config, bid.slot, state.genesisTime)) ??
    (byteArrayEquals(withdrawalsRoot, state.payloadExpectedWithdrawals.hashTreeRoot())
      ? undefined
      : "its withdrawals do not match the state's expected withdrawals.")
  );
}

function differs(what: string, actual: string | number, expected: string | number): string | undefined {
  return actual === expected ? undefined : `its ${what} is ${actual}, expected ${expected}.`;
}

/**
 * Verifies the signature of an envelope without a fault: by the builder of the bid or, for a self-build, by the
 * proposer (gloas/beacon-chain.md, verify_execution_payload_envelope_signature).
 */
export async function verifyEnvelopeSignature(
  config: BeaconConfig,
  bls: Pick<BlsVerifier, "verify">,
  postState: CachedBeaconStateAllForks,
  signed: gloas.SignedExecutionPayloadEnvelope,
): Promise<boolean> {
  const { proposerIndex } = postState.latestBlockHeader;
  const { pubkeyCache } = postState.epochCtx;
  const view = new BeaconStateView(postState);
  return bls.verify([getExecutionPayloadEnvelopeSignatureSet(config, pubkeyCache, view, signed, proposerIndex)]);
}
