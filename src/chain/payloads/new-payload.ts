import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, ForkSeq } from "@lodestar/params";
import type { ExecutionPayload, electra, gloas, SignedBeaconBlock } from "@lodestar/types";
import { commitmentsOf } from "../../data/commitments.ts";
import { type PayloadContext, versionedHashesOf } from "../../execution/engine.ts";

type Block = Pick<SignedBeaconBlock, "message">;

/** A payload with what the execution engine needs to verify it (`NewPayloadRequest` of the specification). */
export interface NewPayload {
  fork: ForkPostBellatrix;
  payload: ExecutionPayload;
  context: PayloadContext;
}

/** Returns the payload of a block from bellatrix to fulu. */
export function payloadInBlock(config: BeaconConfig, block: Block): NewPayload {
  const { executionPayload, executionRequests } = block.message.body as electra.BeaconBlockBody;
  return newPayload(config, block, executionPayload, executionRequests);
}

/** Returns the payload that was revealed for a block since gloas. */
export function payloadInEnvelope(
  config: BeaconConfig,
  block: Block,
  { payload, executionRequests }: gloas.ExecutionPayloadEnvelope,
): NewPayload {
  return newPayload(config, block, payload, executionRequests);
}

function newPayload(
  config: BeaconConfig,
  block: Block,
  payload: ExecutionPayload,
  executionRequests: PayloadContext["executionRequests"],
): NewPayload {
  const { slot, parentRoot } = block.message;
  return {
    fork: config.getForkName(slot) as ForkPostBellatrix,
    payload,
    context: {
      parentBeaconBlockRoot: parentRoot,
      executionRequests,
      versionedHashes: versionedHashesOf(commitmentsOf(block)),
    },
  };
}

/** True if the payload of a block at the slot arrives in an envelope of its own. */
export const hasEnvelope = (config: BeaconConfig, slot: number): boolean => config.getForkSeq(slot) >= ForkSeq.gloas;
