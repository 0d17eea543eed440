import { BUILDER_INDEX_SELF_BUILD } from "@lodestar/params";
import { type CachedBeaconStateAllForks, getCurrentEpoch, getRandaoMix } from "@lodestar/state-transition";
import { type gloas, type RootHex, type Slot, ssz } from "@lodestar/types";
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

/** Builds the bid of a proposer that builds its own payload (gloas/validator.md, Signed execution payload bid). */
export function selfBuildBid(
  preState: CachedBeaconStateAllForks,
  { slot, parentRoot }: { slot: Slot; parentRoot: RootHex },
  built: BuiltPayload,
): gloas.SignedExecutionPayloadBid {
  const { payload, executionRequests } = partsOf(built);
  const message: gloas.ExecutionPayloadBid = {
    parentBlockHash: payload.parentHash,
    parentBlockRoot: fromHex(parentRoot),
    blockHash: payload.blockHash,
    prevRandao: getRandaoMix(preState, getCurrentEpoch(preState)),
    feeRecipient: payload.feeRecipient,
    gasLimit: BigInt(payload.gasLimit),
    builderIndex: BUILDER_INDEX_SELF_BUILD,
    slot,
    value: 0,
    executionPayment: 0n,
    blobKzgCommitments: built.blobsBundle?.commitments ?? [],
    executionRequestsRoot: ssz.gloas.ExecutionRequests.hashTreeRoot(executionRequests),
  };
  return { message, signature: G2_POINT_AT_INFINITY };
}

/** Builds the envelope that reveals the payload of a self-built bid (gloas/builder.md). */
export function selfBuildEnvelope(
  { root, parentRoot }: { root: RootHex; parentRoot: Uint8Array },
  built: BuiltPayload,
): gloas.ExecutionPayloadEnvelope {
  return {
    ...partsOf(built),
    builderIndex: BUILDER_INDEX_SELF_BUILD,
    beaconBlockRoot: fromHex(root),
    parentBeaconBlockRoot: parentRoot,
  };
}
