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

/** What the state prescribes for the execution payload of the next block (bellatrix/validator.md). */
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

/** The payload that the next one follows; null while the merge transition is not complete. */
export function latestPayload(preState: CachedBeaconStateAllForks): ParentPayload | null {
  const state = preState as CachedBeaconStateBellatrix;
  if (!isMergeTransitionComplete(state)) return null;
  const { blockHash, blockNumber } = state.latestExecutionPayloadHeader;
  return { blockHash, blockNumber };
}
