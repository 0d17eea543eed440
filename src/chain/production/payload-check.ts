import type { BeaconConfig } from "@lodestar/config";
import { isForkPostCapella, isForkPostElectra } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type BlobsBundle, type capella, type ExecutionPayload, ssz, sszTypesFor } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { BuiltPayload, PayloadRequest } from "../../execution/engine.ts";
import { describeValueFault } from "../../ssz/value-fault.ts";

/** Returns a clause stating why a block with the payload would be invalid (bellatrix and capella/beacon-chain.md). */
export function faultOfPayload(request: PayloadRequest, payload: ExecutionPayload): string | undefined {
  const { fork, parent, timestamp, prevRandao, withdrawals } = request;
  if (!byteArrayEquals(payload.parentHash, parent.blockHash)) {
    return `its parent is ${toRootHex(payload.parentHash)}, expected ${toRootHex(parent.blockHash)}.`;
  }
  if (parent.blockNumber !== null && payload.blockNumber !== parent.blockNumber + 1) {
    return `its block number is ${payload.blockNumber}, expected ${parent.blockNumber + 1}.`;
  }
  if (payload.timestamp !== timestamp) return `its timestamp is ${payload.timestamp}, expected ${timestamp}.`;
  if (!byteArrayEquals(payload.prevRandao, prevRandao)) {
    return `its prev_randao is ${toRootHex(payload.prevRandao)}, expected ${toRootHex(prevRandao)}.`;
  }
  if (
    isForkPostCapella(fork) &&
    !ssz.capella.Withdrawals.equals((payload as capella.ExecutionPayload).withdrawals, withdrawals)
  ) {
    return "its withdrawals do not match the state's expected withdrawals.";
  }
  return undefined;
}

/** Returns why the payload or its requests do not fit into a block, for example because a list exceeds its limit. */
export function faultOfEncoding(
  { fork }: Pick<PayloadRequest, "fork">,
  { payload, executionRequests }: Pick<BuiltPayload, "payload" | "executionRequests">,
): string | undefined {
  const fault = describeValueFault(sszTypesFor(fork).ExecutionPayload, payload);
  if (fault) return `${fault}.`;
  if (!isForkPostElectra(fork) || !executionRequests) return undefined;
  const requestsFault = describeValueFault(sszTypesFor(fork).ExecutionRequests, executionRequests);
  return requestsFault && `executionRequests.${requestsFault}.`;
}

/** deneb/beacon-chain.md, process_execution_payload; since Fulu the limit comes from the blob schedule (EIP-7892). */
export function faultOfBlobs(
  config: Pick<BeaconConfig, "getMaxBlobsPerBlock">,
  { slot }: PayloadRequest,
  bundle: BlobsBundle | undefined,
): string | undefined {
  if (!bundle?.commitments.length) return undefined;
  const limit = config.getMaxBlobsPerBlock(computeEpochAtSlot(slot));
  const { length } = bundle.commitments;
  return length > limit ? `it has ${length} blobs, but its slot allows at most ${limit}.` : undefined;
}

/** The engine may use a different fee recipient (bellatrix/validator.md, suggested_fee_recipient). */
export function paysAsRequested({ feeRecipient }: PayloadRequest, payload: ExecutionPayload): boolean {
  return byteArrayEquals(payload.feeRecipient, feeRecipient);
}
