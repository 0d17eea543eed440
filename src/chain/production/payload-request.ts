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
import type { PayloadRequest } from "../../execution/engine.ts";

interface ProposedBlock {
  slot: Slot;
  parentRoot: RootHex;
  feeRecipient: Uint8Array;
}

/** What the state prescribes for the execution payload of the next block (bellatrix/validator.md). */
export function payloadRequest(
  config: BeaconConfig,
  fork: ForkPostBellatrix,
  preState: CachedBeaconStateAllForks,
  { slot, parentRoot, feeRecipient }: ProposedBlock,
): PayloadRequest {
  const state = preState as CachedBeaconStateBellatrix;
  const view = new BeaconStateView(preState);
  const latest = isMergeTransitionComplete(state) ? state.latestExecutionPayloadHeader : null;
  return {
    fork,
    slot,
    parent: latest && { blockHash: latest.blockHash, blockNumber: latest.blockNumber },
    parentBeaconBlockRoot: fromHex(parentRoot),
    timestamp: computeTimeAtSlot(config, slot, preState.genesisTime),
    prevRandao: view.getRandaoMix(view.epoch),
    feeRecipient,
    withdrawals: ForkSeq[fork] >= ForkSeq.capella ? view.getExpectedWithdrawals().expectedWithdrawals : [],
  };
}
