import { PublicKey } from "@chainsafe/blst";
import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { isForkPostCapella } from "@lodestar/params";
import {
  computeEpochAtSlot,
  computeSigningRoot,
  createSingleSignatureSetFromComponents,
  type SingleSignatureSet,
  ZERO_HASH,
} from "@lodestar/state-transition";
import { type BuilderBid, type deneb, type SignedBuilderBid, ssz, sszTypesFor } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { OfferedBid } from "../../execution/builder/builder.ts";
import { builderDomain } from "../../execution/builder/builder-domain.ts";
import type { PayloadRequest } from "../../execution/engine.ts";

export interface BidExpectation {
  /** Payload attributes required by the state. */
  request: PayloadRequest;
  parentGasLimit: number;
  /** Gas limit from the proposer's registration. */
  targetGasLimit: number;
}

/**
 * Returns a sentence explaining why a block with the bid would be invalid or would violate the proposer's registration.
 */
export function faultOfBid(
  config: BeaconConfig,
  { fork, signed: { message } }: OfferedBid,
  { request, parentGasLimit, targetGasLimit }: BidExpectation,
): string | undefined {
  if (fork !== request.fork) return `The bid is for ${fork}, but slot ${request.slot} is in ${request.fork}.`;
  const { header, value } = message;
  if (value === 0n) return "The bid pays nothing.";
  return (
    faultOfHash("parent hash", header.parentHash, request.parent?.blockHash ?? ZERO_HASH) ??
    faultOfHash("prev_randao", header.prevRandao, request.prevRandao) ??
    faultOfNumber("timestamp", header.timestamp, request.timestamp) ??
    faultOfBlockNumber(header.blockNumber, request) ??
    faultOfNumber("gas limit", header.gasLimit, expectedGasLimit(parentGasLimit, targetGasLimit)) ??
    faultOfWithdrawals(message, request) ??
    faultOfBlobs(config, message, request)
  );
}

/** Returns the signature set of the bid, or null if the builder's public key is invalid. */
export function bidSignatureSet(
  config: BeaconConfig,
  { fork, signed: { message, signature } }: OfferedBid,
): SingleSignatureSet | null {
  const type = sszTypesFor(fork).BuilderBid as Type<SignedBuilderBid["message"]>;
  try {
    const pubkey = PublicKey.fromBytes(message.pubkey, true);
    const signingRoot = computeSigningRoot(type, message, builderDomain(config));
    return createSingleSignatureSetFromComponents(pubkey, signingRoot, signature);
  } catch {
    return null;
  }
}

/**
 * Returns the gas limit nearest to the target that the execution layer allows: it must differ from the parent's by less
 * than 1/1024.
 */
export function expectedGasLimit(parent: number, target: number): number {
  const step = Math.max(Math.floor(parent / 1024) - 1, 0);
  return Math.min(Math.max(target, parent - step), parent + step);
}

function faultOfHash(name: string, actual: Uint8Array, expected: Uint8Array): string | undefined {
  if (byteArrayEquals(actual, expected)) return undefined;
  return `The bid's header has ${name} ${toRootHex(actual)}, expected ${toRootHex(expected)}.`;
}

function faultOfNumber(name: string, actual: number, expected: number): string | undefined {
  return actual === expected ? undefined : `The bid's header has ${name} ${actual}, expected ${expected}.`;
}

function faultOfBlockNumber(actual: number, { parent }: PayloadRequest): string | undefined {
  // States of some forks do not contain the parent's block number.
  return parent?.blockNumber == null ? undefined : faultOfNumber("block number", actual, parent.blockNumber + 1);
}

function faultOfWithdrawals({ header }: BuilderBid, { fork, withdrawals }: PayloadRequest): string | undefined {
  if (!isForkPostCapella(fork)) return undefined;
  const expected = ssz.capella.Withdrawals.hashTreeRoot(withdrawals);
  return faultOfHash("withdrawals root", (header as deneb.ExecutionPayloadHeader).withdrawalsRoot, expected);
}

function faultOfBlobs(config: BeaconConfig, bid: BuilderBid, { slot }: PayloadRequest): string | undefined {
  if (!("blobKzgCommitments" in bid)) return undefined;
  const { length } = bid.blobKzgCommitments;
  const limit = config.getMaxBlobsPerBlock(computeEpochAtSlot(slot));
  return length > limit ? `The bid has ${length} blobs, but slot ${slot} allows at most ${limit}.` : undefined;
}
