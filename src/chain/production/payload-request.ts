import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, ForkSeq } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateBellatrix,
  computeTimeAtSlot,
  isMergeTransitionComplete,
} from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { ParentPayload, PayloadRequest } from "../../execution/engine.ts";

interface ProposedBlock {
  slot: Slot;
  parentRoot: RootHex;
  feeRecipient: Uint8Array;
  parent: ParentPayload;
}

/** Builds the payload attributes of the next block from the state (bellatrix/validator.md). */
export function payloadRequest(
  config: BeaconConfig,
  fork: ForkPostBellatrix,
  preState: CachedBeaconStateAllForks,
  { slot, parentRoot, feeRecipient, parent }: ProposedBlock,
): PayloadRequest {
  const view = new BeaconStateView(preState);
  return {
    fork,
    slot,
    parent,
    parentBeaconBlockRoot: fromHex(parentRoot),
    timestamp: computeTimeAtSlot(config, slot, preState.genesisTime),
    prevRandao: view.getRandaoMix(view.epoch),
    feeRecipient,
    withdrawals: ForkSeq[fork] >= ForkSeq.capella ? view.getExpectedWithdrawals().expectedWithdrawals : [],
  };
}

/** Returns the latest payload in the state; null before the merge transition is complete. */
export function latestPayload(preState: CachedBeaconStateAllForks): ParentPayload | null {
  const state = preState as CachedBeaconStateBellatrix;
  if (!isMergeTransitionComplete(state)) return null;
  const { blockHash, blockNumber } = state.latestExecutionPayloadHeader;
  return { blockHash, blockNumber };
}
