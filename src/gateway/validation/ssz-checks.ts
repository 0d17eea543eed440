import { type ForkName, isForkPostCapella } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import type { ChainSpec } from "../network/chain-spec.ts";
import { KNOWN_FORKS } from "../network/spec-constants.ts";
import type { CallParams } from "./json-scan.ts";
import {
  findBlockSszViolation,
  requestedRoot,
  sszAttestationDataRoot,
  sszHeaderRoot,
  typedForkOf,
  wrongRoot,
} from "./requested-roots.ts";
import { isListed } from "./rules.ts";
import { slotOf } from "./slots.ts";
import { findStructureViolation, sszTypeOf } from "./ssz-structure.ts";

/** An SSZ body: its first bytes, and its length if known. */
export interface SszBody {
  readonly start: Buffer;
  readonly length: number | undefined;
  /** The header `Eth-Consensus-Version`. */
  readonly fork?: string | undefined;
  /** Undefined if the network is unknown. */
  readonly chainSpec?: ChainSpec | undefined;
}

/** Returns a violation, as a clause without subject, or undefined. */
type SszCheck = (body: SszBody, params: CallParams) => string | undefined;

const SLOT_BYTES = 8;
/** `SignedBeaconBlock`: offset of the message, and signature. */
const SIGNED_BLOCK_BYTES = 4 + 96;
/** `BeaconBlock`: slot, proposer index, two roots, and offset of the body. */
const BLOCK_BYTES = 8 + 8 + 32 + 32 + 4;
/** Block contents: three offsets. */
const CONTENTS_BYTES = 3 * 4;
/** `BeaconState`: genesis time and root precede the slot. */
const STATE_SLOT_AT = 8 + 32;
/** All states have at least their fixed vectors: block roots, state roots and mixes of the minimal preset. */
const MIN_STATE_BYTES = (2 * 64 + 64) * 32;

const SIGNED_BLOCK_PATH = /\/beacon\/(?:blinded_)?blocks\/[^/]+$/;
const STATE_PATH = /\/debug\/beacon\/states\/[^/]+$/;
const PRODUCED_BLOCK_PATH = /\/validator\/(?:blinded_)?blocks\/\d+$/;

/** Checks the fixed part and the length of responses, by the end of their path. */
const CHECKS: readonly [path: RegExp, check: SszCheck][] = [
  [SIGNED_BLOCK_PATH, checkSignedBlock],
  [STATE_PATH, checkState],
  [PRODUCED_BLOCK_PATH, checkProducedBlock],
  [/\/validator\/attestation_data$/, fixedSize(128, { slotAt: 0 })],
  [/\/validator\/payload_attestation_data$/, fixedSize(42)],
  [/\/validator_balances$/, checkBalances],
  [/\/validator_identities$/, listOf(64)],
  [/\/pending_consolidations$/, listOf(16)],
  [/\/pending_deposits$/, listOf(192)],
  [/\/pending_partial_withdrawals$/, listOf(24)],
  [/\/proposer_lookahead$/, listOf(8)],
  [/\/expected_withdrawals$/, listOf(44)],
  [/\/beacon\/blobs\/[^/]+$/, listOf(131_072)],
  [/\/blob_sidecars\/[^/]+$/, checkBlobSidecars],
  [/\/data_column_sidecars\/[^/]+$/, listOfVariable],
  [/\/light_client\/bootstrap\/[^/]+$/, checkBootstrap],
  [/\/validator\/aggregate_attestation$/, checkAggregate],
  [/\/beacon\/execution_payload_envelopes\/[^/]+$/, checkEnvelope],
];

/** Returns why a body cannot be the SSZ response of a path, or undefined. Paths without a check accept any bytes. */
export function findSszViolation(url: string, params: CallParams, body: SszBody): string | undefined {
  const path = pathOf(url);
  return (
    CHECKS.find(([pattern]) => pattern.test(path))?.[1](body, params) ??
    wrongStructure(path, body) ??
    wrongBlock(path, body, params)
  );
}

function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}

/** Returns the slot that determines the fork of a body, or undefined if the body has none. */
export function sszForkSlot(url: string, start: Buffer): number | undefined {
  const path = pathOf(url);
  if (SIGNED_BLOCK_PATH.test(path)) return slotAt(start, SIGNED_BLOCK_BYTES);
  if (STATE_PATH.test(path)) return slotAt(start, STATE_SLOT_AT);
  return PRODUCED_BLOCK_PATH.test(path) ? slotAt(start, producedBlockAt(start)) : undefined;
}

function slotAt(start: Buffer, at: number): number | undefined {
  return start.length < at + SLOT_BYTES ? undefined : Number(start.readBigUInt64LE(at));
}

/** Checks all offsets of a body whose bytes and fork are known. */
function wrongStructure(path: string, { start, length, fork = "" }: SszBody): string | undefined {
  if (start.length !== length || !KNOWN_FORKS.has(fork.toLowerCase())) return undefined;
  const type = sszTypeOf(path, fork.toLowerCase() as ForkName);
  return type && findStructureViolation(type, start);
}

/** Compares the root of a block whose bytes are known with the requested one. */
function wrongBlock(
  path: string,
  { start, length, fork: stated, chainSpec }: SszBody,
  { block_id: blockId }: CallParams,
): string | undefined {
  if (start.length !== length || requestedRoot(blockId) === undefined || !SIGNED_BLOCK_PATH.test(path))
    return undefined;
  const fork = typedForkOf({ slot: slotAt(start, SIGNED_BLOCK_BYTES), stated, chainSpec });
  if (fork === undefined) return undefined;
  const isBlinded = path.includes("/blinded_blocks/");
  return findBlockSszViolation(start.subarray(SIGNED_BLOCK_BYTES), { fork, isBlinded, blockId });
}

function checkSignedBlock(body: SszBody, { block_id }: CallParams): string | undefined {
  return (
    tooShort(body, SIGNED_BLOCK_BYTES + BLOCK_BYTES) ??
    wrongOffset(body, 0, [SIGNED_BLOCK_BYTES]) ??
    wrongOffset(body, SIGNED_BLOCK_BYTES + BLOCK_BYTES - 4, [BLOCK_BYTES]) ??
    wrongSlot(body, SIGNED_BLOCK_BYTES, block_id)
  );
}

function checkState(body: SszBody, { state_id }: CallParams): string | undefined {
  return tooShort(body, MIN_STATE_BYTES) ?? wrongSlot(body, STATE_SLOT_AT, state_id);
}

/** Position of a block, or of the block that precedes its blobs and proofs. */
function producedBlockAt(start: Buffer): number {
  const isContents = start.length >= 4 && start.readUInt32LE(0) === CONTENTS_BYTES;
  return isContents ? CONTENTS_BYTES : 0;
}

function checkProducedBlock(body: SszBody, { slot }: CallParams): string | undefined {
  const at = producedBlockAt(body.start);
  return (
    tooShort(body, at + BLOCK_BYTES) ??
    wrongOffset(body, at + BLOCK_BYTES - 4, [BLOCK_BYTES]) ??
    wrongSlot(body, at, slot)
  );
}

function fixedSize(bytes: number, { slotAt }: { slotAt?: number } = {}): SszCheck {
  return (body, { slot }) => {
    if (body.length !== undefined && body.length !== bytes) return `has ${body.length} bytes instead of ${bytes}`;
    return slotAt === undefined ? undefined : (tooShort(body, bytes) ?? wrongSlot(body, slotAt, slot));
  };
}

function listOf(bytes: number): SszCheck {
  return ({ length }) => {
    return length === undefined || length % bytes === 0 ? undefined : `has ${length} bytes, not a multiple of ${bytes}`;
  };
}

const BALANCE_BYTES = 8 + 8;

/** A list of validator index and balance. */
function checkBalances(body: SszBody, params: CallParams): string | undefined {
  const violation = listOf(BALANCE_BYTES)(body, params);
  if (violation !== undefined || params.id === undefined) return violation;
  for (let at = 0; at + BALANCE_BYTES <= body.start.length; at += BALANCE_BYTES) {
    const index = body.start.readBigUInt64LE(at);
    if (!isListed(String(index), params.id)) return `has validator ${index}, which was not requested`;
  }
  return undefined;
}

const SIDECAR_BYTES = ssz.deneb.BlobSidecar.fixedSize!;
/** Index, blob, commitment and proof precede the header. */
const SIDECAR_HEADER_AT = 8 + 131_072 + 48 + 48;

function checkBlobSidecars(body: SszBody, params: CallParams): string | undefined {
  const violation = listOf(SIDECAR_BYTES)(body, params);
  if (violation !== undefined || requestedRoot(params.block_id) === undefined) return violation;
  for (let at = SIDECAR_HEADER_AT; ; at += SIDECAR_BYTES) {
    const root = sszHeaderRoot(body.start, at);
    const wrong = root && wrongRoot(root, "block_id", params.block_id);
    if (root === undefined || wrong !== undefined) return wrong;
  }
}

/** From capella on, the header of the light client has an offset. */
function checkBootstrap({ start, fork = "" }: SszBody, { block_root: requested }: CallParams): string | undefined {
  const name = fork.toLowerCase();
  if (!KNOWN_FORKS.has(name) || start.length < 4) return undefined;
  const root = sszHeaderRoot(start, isForkPostCapella(name as ForkName) ? start.readUInt32LE(0) : 0);
  return root && wrongRoot(root, "block_root", requested);
}

/** The offset of the bits precedes the data. */
function checkAggregate({ start }: SszBody, { attestation_data_root: requested }: CallParams): string | undefined {
  const root = sszAttestationDataRoot(start, 4);
  return root && wrongRoot(root, "attestation_data_root", requested);
}

/** Two offsets and the builder precede the root of the block. */
const ENVELOPE_ROOT_AT = SIGNED_BLOCK_BYTES + 4 + 4 + 8;

function checkEnvelope({ start }: SszBody, { block_id: requested }: CallParams): string | undefined {
  if (start.length < ENVELOPE_ROOT_AT + 32) return "is too short";
  return wrongRoot(`0x${start.toString("hex", ENVELOPE_ROOT_AT, ENVELOPE_ROOT_AT + 32)}`, "block_id", requested);
}

/** The first offset of a list of variable-size elements is the length of all offsets. */
function listOfVariable({ start, length }: SszBody): string | undefined {
  if (length === 0) return undefined;
  const first = start.length >= 4 ? start.readUInt32LE(0) : 0;
  const isOffset = first > 0 && first % 4 === 0 && first <= (length ?? Number.POSITIVE_INFINITY);
  return isOffset ? undefined : `starts with offset ${first}`;
}

function tooShort({ start, length = start.length }: SszBody, bytes: number): string | undefined {
  return length < bytes ? `has only ${length} bytes` : undefined;
}

function wrongOffset({ start }: SszBody, at: number, expected: readonly number[]): string | undefined {
  if (start.length < at + 4) return "is too short";
  const offset = start.readUInt32LE(at);
  return expected.includes(offset) ? undefined : `has offset ${offset} instead of ${expected.join(" or ")}`;
}

function wrongSlot({ start }: SszBody, at: number, requested: string | undefined): string | undefined {
  const expected = slotOf(requested);
  if (expected === undefined) return undefined;
  if (start.length < at + SLOT_BYTES) return "is too short";
  const slot = start.readBigUInt64LE(at);
  return slot === BigInt(expected) ? undefined : `has slot ${slot}, but ${requested} was requested`;
}
