import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, ForkSeq } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateBellatrix,
  computeTimeAtSlot,
  isMergeTransitionComplete,
} from "@lodestar/state-transition";
import type { capella, RootHex, Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { ParentPayload, PayloadRequest } from "../../execution/engine.ts";

interface ProposedBlock {
  slot: Slot;
  parentRoot: RootHex;
  feeRecipient: Uint8Array;
  parent: ParentPayload;
  /** Since gloas, they depend on the payload that the payload is built on. Default: those of the state. */
  withdrawals?: capella.Withdrawal[] | undefined;
  targetGasLimit?: number | undefined;
}

/** Builds the payload attributes of the next block from the state (bellatrix/validator.md). */
export function payloadRequest(
  config: BeaconConfig,
  fork: ForkPostBellatrix,
  preState: CachedBeaconStateAllForks,
  { slot, parentRoot, feeRecipient, parent, targetGasLimit, ...rest }: ProposedBlock,
): PayloadRequest {
  const view = new BeaconStateView(preState);
  const withdrawals = () => (ForkSeq[fork] >= ForkSeq.capella ? view.getExpectedWithdrawals().expectedWithdrawals : []);
  return {
    fork,
    slot,
    parent,
    parentBeaconBlockRoot: fromHex(parentRoot),
    timestamp: computeTimeAtSlot(config, slot, preState.genesisTime),
    prevRandao: view.getRandaoMix(view.epoch),
    feeRecipient,
    withdrawals: rest.withdrawals ?? withdrawals(),
    ...(targetGasLimit !== undefined && { targetGasLimit }),
  };
}

/** Returns the latest payload in a state before gloas; null before the merge transition is complete. */
export function latestPayload(preState: CachedBeaconStateAllForks): ParentPayload | null {
  const state = preState as CachedBeaconStateBellatrix;
  if (!isMergeTransitionComplete(state)) return null;
  const { blockHash, blockNumber } = state.latestExecutionPayloadHeader;
  return { blockHash, blockNumber };
}
