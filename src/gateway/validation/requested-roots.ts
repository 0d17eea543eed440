// Compares answers to requests by root with the hash tree root of their content.

import { type ForkName, isForkPostBellatrix } from "@lodestar/params";
import { ssz, sszTypesFor } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { MethodDefinition } from "../../api/definition.ts";
import { type ChainSpec, forkAt } from "../network/chain-spec.ts";
import { KNOWN_FORKS } from "../network/spec-constants.ts";
import { memberOf } from "../upstream/client/json-fields.ts";
import type { CallParams } from "./json-scan.ts";
import { isSettled } from "./network-checks.ts";

const ROOT = /^0x[0-9a-f]{64}$/i;
/** Answers whose root depends on all of their bytes. */
const WHOLE_PATH = /\/beacon\/(?:(?:blinded_)?blocks|execution_payload_envelopes)\/\{block_id\}$/;
/** The types of this fork may still change. */
const GLOAS = "gloas";

/** Returns the root that a parameter names, in lowercase. Undefined for other ids. */
export function requestedRoot(id: string | undefined): string | undefined {
  return id !== undefined && ROOT.test(id) ? id.toLowerCase() : undefined;
}

/** True for blocks and payload envelopes that are requested by root: only a complete body can be checked. */
export function needsWholeBody({ method, params }: { method: MethodDefinition; params: CallParams }): boolean {
  return requestedRoot(params.block_id) !== undefined && method.rest.some(({ path }) => WHOLE_PATH.test(path));
}

/** Returns why a root is not the requested one, as a clause without subject, or undefined. */
export function wrongRoot(actual: string, param: string, requested: string | undefined): string | undefined {
  const root = requestedRoot(requested);
  return root === undefined || actual === root ? undefined : `has root ${actual}, but ${param} ${root} was requested`;
}

interface BlockFork {
  readonly slot: number | undefined;
  /** The fork that the answer names. */
  readonly stated: string | undefined;
  readonly chainSpec: ChainSpec | undefined;
}

/** Returns the fork of a block, or undefined if this version cannot compute the root of its blocks. */
export function typedForkOf({ slot, stated, chainSpec }: BlockFork): ForkName | undefined {
  const fork = stated?.toLowerCase();
  const scheduled = chainSpec && slot !== undefined ? forkAt(chainSpec, slot) : undefined;
  if (fork !== undefined && (isTyped(fork) || scheduled === undefined || fork === scheduled)) return typed(fork);
  if (scheduled === undefined || !isSettled(scheduled, chainSpec!)) return undefined;
  const { slotsPerEpoch, reportedAtEpoch = Number.POSITIVE_INFINITY } = chainSpec!;
  // Another fork may have been scheduled since, but not for the past.
  return fork === undefined || slot! < reportedAtEpoch * slotsPerEpoch ? typed(scheduled) : undefined;
}

const isTyped = (fork: string): boolean => fork !== GLOAS && KNOWN_FORKS.has(fork);
const typed = (fork: string): ForkName | undefined => (isTyped(fork) ? (fork as ForkName) : undefined);

function messageType(fork: ForkName, isBlinded: boolean) {
  return isBlinded && isForkPostBellatrix(fork) ? sszTypesFor(fork).BlindedBeaconBlock : sszTypesFor(fork).BeaconBlock;
}

interface BlockOptions {
  readonly fork: ForkName;
  readonly isBlinded: boolean;
  readonly blockId: string | undefined;
}

/** Returns why a signed block is not the requested one, as a clause without subject, or undefined. */
export function findBlockJsonViolation(data: unknown, { fork, isBlinded, blockId }: BlockOptions): string | undefined {
  const type = messageType(fork, isBlinded);
  return violationOf(fork, blockId, () => type.hashTreeRoot(type.fromJson(memberOf(data, "message")) as never));
}

/** Like `findBlockJsonViolation`, for the SSZ bytes of the message. */
export function findBlockSszViolation(
  message: Uint8Array,
  { fork, isBlinded, blockId }: BlockOptions,
): string | undefined {
  const type = messageType(fork, isBlinded);
  return violationOf(fork, blockId, () => type.hashTreeRoot(type.deserialize(message) as never));
}

function violationOf(fork: string, blockId: string | undefined, hash: () => Uint8Array): string | undefined {
  let root: string;
  try {
    root = toRootHex(hash());
  } catch (error) {
    return `is not a block of ${fork}: ${(error as Error).message}`;
  }
  return wrongRoot(root, "block_id", blockId);
}

/** Returns the root of a block header in JSON. */
export function headerRoot(message: unknown): string {
  const type = ssz.phase0.BeaconBlockHeaderBigint;
  return toRootHex(type.hashTreeRoot(type.fromJson(message)));
}

/** Returns the root of attestation data in JSON. */
export function attestationDataRoot(data: unknown): string {
  const type = ssz.phase0.AttestationDataBigint;
  return toRootHex(type.hashTreeRoot(type.fromJson(data)));
}

/** Returns the root of attestation data in SSZ, or undefined if its bytes are incomplete. */
export function sszAttestationDataRoot(bytes: Buffer, at: number): string | undefined {
  const type = ssz.phase0.AttestationDataBigint;
  const data = bytes.subarray(at, at + type.fixedSize!);
  return data.length < type.fixedSize! ? undefined : toRootHex(type.hashTreeRoot(type.deserialize(data)));
}

/** Returns the root of a block header in SSZ, or undefined if its bytes are incomplete. */
export function sszHeaderRoot(bytes: Buffer, at: number): string | undefined {
  const type = ssz.phase0.BeaconBlockHeaderBigint;
  const header = bytes.subarray(at, at + type.fixedSize!);
  return header.length < type.fixedSize! ? undefined : toRootHex(type.hashTreeRoot(type.deserialize(header)));
}
