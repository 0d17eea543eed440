import type { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { KNOWN_FORKS } from "../network/spec-constants.ts";
import type { CallParams } from "./json-scan.ts";
import { isListed } from "./rules.ts";
import { slotOf } from "./slots.ts";
import { findStructureViolation, sszTypeOf } from "./ssz-structure.ts";

/** An SSZ body: its first bytes, and its length if known. */
export interface SszBody {
  readonly start: Buffer;
  readonly length: number | undefined;
  /** The header `Eth-Consensus-Version`. */
  readonly fork?: string | undefined;
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
  [/\/blob_sidecars\/[^/]+$/, listOf(ssz.deneb.BlobSidecar.fixedSize!)],
  [/\/data_column_sidecars\/[^/]+$/, listOfVariable],
];

/** Returns why a body cannot be the SSZ response of a path, or undefined. Paths without a check accept any bytes. */
export function findSszViolation(url: string, params: CallParams, body: SszBody): string | undefined {
  const path = pathOf(url);
  return CHECKS.find(([pattern]) => pattern.test(path))?.[1](body, params) ?? wrongStructure(path, body);
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
