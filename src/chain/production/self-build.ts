import { BUILDER_INDEX_SELF_BUILD } from "@lodestar/params";
import { type CachedBeaconStateAllForks, getCurrentEpoch, getRandaoMix } from "@lodestar/state-transition";
import { type BuilderIndex, type gloas, type RootHex, type Slot, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BuiltPayload } from "../../execution/engine.ts";

/** bls.G2_POINT_AT_INFINITY, compressed. */
const G2_POINT_AT_INFINITY = Uint8Array.from({ length: 96 }, (_, index) => (index === 0 ? 0xc0 : 0));

interface SelfBuiltPayload {
  payload: gloas.ExecutionPayload;
  executionRequests: gloas.ExecutionRequests;
}

const partsOf = ({ payload, executionRequests }: BuiltPayload): SelfBuiltPayload => ({
  payload: payload as gloas.ExecutionPayload,
  executionRequests: {
    ...ssz.gloas.ExecutionRequests.defaultValue(),
    ...(executionRequests as gloas.ExecutionRequests | undefined),
  },
});

/** What a builder offers for a block. */
export interface BidTerms {
  slot: Slot;
  parentRoot: RootHex;
  builderIndex: BuilderIndex;
  /** Payment to the proposer, in Gwei. */
  value: number;
  /** Address that receives the payment. */
  feeRecipient: Uint8Array;
}

/** Builds the bid of a proposer that builds its own payload (gloas/validator.md, Signed execution payload bid). */
export function selfBuildBid(
  preState: CachedBeaconStateAllForks,
  block: { slot: Slot; parentRoot: RootHex },
  built: BuiltPayload,
): gloas.SignedExecutionPayloadBid {
  const { feeRecipient } = partsOf(built).payload;
  const terms = { ...block, builderIndex: BUILDER_INDEX_SELF_BUILD, value: 0, feeRecipient };
  return { message: payloadBid(preState, terms, built), signature: G2_POINT_AT_INFINITY };
}

/** Builds a bid for a payload (gloas/builder.md, Constructing the `SignedExecutionPayloadBid`). */
export function payloadBid(
  preState: CachedBeaconStateAllForks,
  { parentRoot, ...terms }: BidTerms,
  built: BuiltPayload,
): gloas.ExecutionPayloadBid {
  const { payload, executionRequests } = partsOf(built);
  return {
    ...terms,
    parentBlockHash: payload.parentHash,
    parentBlockRoot: fromHex(parentRoot),
    blockHash: payload.blockHash,
    prevRandao: getRandaoMix(preState, getCurrentEpoch(preState)),
    gasLimit: BigInt(payload.gasLimit),
    executionPayment: 0n,
    blobKzgCommitments: built.blobsBundle?.commitments ?? [],
    executionRequestsRoot: ssz.gloas.ExecutionRequests.hashTreeRoot(executionRequests),
  };
}

/** Builds the envelope that reveals a payload (gloas/builder.md). By default, that of a self-built bid. */
export function payloadEnvelope(
  { root, parentRoot }: { root: RootHex; parentRoot: Uint8Array },
  built: BuiltPayload,
  builderIndex: BuilderIndex = BUILDER_INDEX_SELF_BUILD,
): gloas.ExecutionPayloadEnvelope {
  return { ...partsOf(built), builderIndex, beaconBlockRoot: fromHex(root), parentBeaconBlockRoot: parentRoot };
}
