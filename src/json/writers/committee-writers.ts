import { type ByteWriter, constant } from "../byte-writer.ts";
import { MIN_ROOM_BYTES } from "../stream-writer.ts";

type Steps = Generator<void, void, void>;

/** Committees. Their members are concatenated in `members`. */
export interface CommitteeList {
  committees: { index: number; slot: number; length: number }[];
  members: Uint32Array;
}

/** Attester duties for an epoch: one row of numbers per validator, and the public keys. */
export interface AttesterDutyList {
  firstSlot: number;
  committeesAtSlot: number;
  rows: Uint32Array;
  pubkeys: Uint8Array;
}

/** One row of an `AttesterDutyList`, in column order. */
export interface AttesterDutyRow {
  validatorIndex: number;
  committeeIndex: number;
  committeeLength: number;
  position: number;
  slotInEpoch: number;
}

const ROW_LENGTH = 5;
const PUBKEY_BYTES = 48;

const OPENING_BRACKET = "[".charCodeAt(0);
const CLOSING_BRACKET = "]".charCodeAt(0);
const COMMA = ",".charCodeAt(0);

const INDEX = constant('{"index":"');
const SLOT = constant('","slot":"');
const VALIDATORS = constant('","validators":[');
const FIRST_MEMBER = constant('"');
const NEXT_MEMBER = constant('","');
const LAST_MEMBER = constant('"');
const END_OF_COMMITTEE = constant("]}");

/** Writes the response data for getEpochCommittees (Beacon API). */
export function* writeCommittees({ committees, members }: CommitteeList, out: ByteWriter): Steps {
  let at = 0;
  out.byte(OPENING_BRACKET);
  for (const [order, { index, slot, length }] of committees.entries()) {
    if (out.room < MIN_ROOM_BYTES) yield;
    if (order > 0) out.byte(COMMA);
    out.constant(INDEX);
    out.uint(index);
    out.constant(SLOT);
    out.uint(slot);
    out.constant(VALIDATORS);
    for (const end = at + length, first = at; at < end; at++) {
      if (out.room < MIN_ROOM_BYTES) yield;
      out.constant(at === first ? FIRST_MEMBER : NEXT_MEMBER);
      out.uint(members[at]!);
    }
    if (length > 0) out.constant(LAST_MEMBER);
    out.constant(END_OF_COMMITTEE);
  }
  out.byte(CLOSING_BRACKET);
}

const PUBKEY = constant('{"pubkey":"0x');
const VALIDATOR_INDEX = constant('","validator_index":"');
const COMMITTEE_INDEX = constant('","committee_index":"');
const COMMITTEE_LENGTH = constant('","committee_length":"');
const COMMITTEES_AT_SLOT = constant('","committees_at_slot":"');
const POSITION = constant('","validator_committee_index":"');
const END = constant('"}');

/** Writes the response data for getAttesterDuties (Beacon API). */
export function* writeAttesterDuties(list: AttesterDutyList, out: ByteWriter): Steps {
  const { firstSlot, committeesAtSlot, rows, pubkeys } = list;
  out.byte(OPENING_BRACKET);
  for (let at = 0, key = 0; at < rows.length; at += ROW_LENGTH, key += PUBKEY_BYTES) {
    if (out.room < MIN_ROOM_BYTES) yield;
    if (at > 0) out.byte(COMMA);
    out.constant(PUBKEY);
    out.hex(pubkeys, key, PUBKEY_BYTES);
    out.constant(VALIDATOR_INDEX);
    out.uint(rows[at]!);
    out.constant(COMMITTEE_INDEX);
    out.uint(rows[at + 1]!);
    out.constant(COMMITTEE_LENGTH);
    out.uint(rows[at + 2]!);
    out.constant(COMMITTEES_AT_SLOT);
    out.uint(committeesAtSlot);
    out.constant(POSITION);
    out.uint(rows[at + 3]!);
    out.constant(SLOT);
    out.uint(firstSlot + rows[at + 4]!);
    out.constant(END);
  }
  out.byte(CLOSING_BRACKET);
}

/** Collects attester duties in shared memory. */
export class AttesterDutyRows {
  readonly #rows: Uint32Array;
  readonly #pubkeys: Uint8Array;
  #count = 0;

  constructor(capacity: number) {
    this.#rows = new Uint32Array(new SharedArrayBuffer(capacity * ROW_LENGTH * Uint32Array.BYTES_PER_ELEMENT));
    this.#pubkeys = new Uint8Array(new SharedArrayBuffer(capacity * PUBKEY_BYTES));
  }

  add(pubkey: Uint8Array, row: AttesterDutyRow): void {
    const { validatorIndex, committeeIndex, committeeLength, position, slotInEpoch } = row;
    const at = this.#count * ROW_LENGTH;
    this.#rows[at] = validatorIndex;
    this.#rows[at + 1] = committeeIndex;
    this.#rows[at + 2] = committeeLength;
    this.#rows[at + 3] = position;
    this.#rows[at + 4] = slotInEpoch;
    this.#pubkeys.set(pubkey, this.#count * PUBKEY_BYTES);
    this.#count++;
  }

  get columns(): Pick<AttesterDutyList, "rows" | "pubkeys"> {
    return {
      rows: this.#rows.subarray(0, this.#count * ROW_LENGTH),
      pubkeys: this.#pubkeys.subarray(0, this.#count * PUBKEY_BYTES),
    };
  }
}
