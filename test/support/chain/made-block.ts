import { createHash } from "node:crypto";
import { DOMAIN_RANDAO } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeSigningRoot,
  computeTimeAtSlot,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  G2_POINT_AT_INFINITY,
  isStatePostBellatrix,
  isStatePostCapella,
  stateTransition,
} from "@lodestar/state-transition";
import { type BeaconBlock, type Root, ssz, type ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";

type Sign = (validator: ValidatorIndex, signingRoot: Uint8Array) => Uint8Array;

/** A valid block without operations on a state that is advanced to its slot. The state root is missing. */
export function emptyBlock(preState: CachedBeaconStateAllForks, parentRoot: Root, sign: Sign): BeaconBlock {
  const { slot, epochCtx } = preState;
  const { config } = epochCtx;
  const block = config.getForkTypes(slot).BeaconBlock.defaultValue() as BeaconBlock;
  block.slot = slot;
  block.parentRoot = parentRoot;
  block.proposerIndex = epochCtx.getBeaconProposer(slot);
  const { body } = block;
  const randaoDomain = config.getDomain(slot, DOMAIN_RANDAO, slot);
  body.randaoReveal = sign(block.proposerIndex, computeSigningRoot(ssz.Epoch, computeEpochAtSlot(slot), randaoDomain));
  body.eth1Data = preState.eth1Data.toValue();
  if ("syncAggregate" in body) body.syncAggregate.syncCommitteeSignature = G2_POINT_AT_INFINITY;
  if ("executionPayload" in body) fillPayload(preState, body.executionPayload);
  return block;
}

/** Applies a block without checking its signatures and state root. */
export function applyUnchecked(preState: CachedBeaconStateAllForks, message: BeaconBlock): CachedBeaconStateAllForks {
  return stateTransition(
    preState,
    { message, signature: G2_POINT_AT_INFINITY },
    {
      verifyStateRoot: false,
      verifyProposer: false,
      verifySignatures: false,
      executionPayloadStatus: ExecutionPayloadStatus.valid,
      dataAvailabilityStatus: DataAvailabilityStatus.Available,
    },
  );
}

function fillPayload(
  preState: CachedBeaconStateAllForks,
  payload: ReturnType<typeof ssz.bellatrix.ExecutionPayload.defaultValue>,
): void {
  const view = new BeaconStateView(preState);
  if (!isStatePostBellatrix(view)) throw new Error("Only a state from Bellatrix on has a payload on it.");
  const parent = view.latestExecutionPayloadHeader;
  payload.parentHash = parent.blockHash;
  payload.blockNumber = parent.blockNumber + 1;
  payload.prevRandao = view.getRandaoMix(view.epoch);
  payload.timestamp = computeTimeAtSlot(preState.epochCtx.config, preState.slot, preState.genesisTime);
  payload.gasLimit = parent.gasLimit;
  payload.baseFeePerGas = parent.baseFeePerGas;
  if (isStatePostCapella(view) && "withdrawals" in payload) {
    payload.withdrawals = view.getExpectedWithdrawals().expectedWithdrawals;
  }
  payload.blockHash = createHash("sha256")
    .update(`${payload.blockNumber} after ${toRootHex(parent.blockHash)}`)
    .digest();
}
