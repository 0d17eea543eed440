import { CREDENTIALS_BYTES, PUBKEY_BYTES, VALIDATOR_BYTES, VALIDATOR_FIELDS } from "../../ssz/validator-layout.ts";
import { type ByteWriter, constant } from "../byte-writer.ts";
import { MIN_ROOM_BYTES } from "../stream-writer.ts";
import { isFarFuture, statusAt, VALIDATOR_STATUSES } from "../validator-status.ts";
import {
  BALANCE_BYTES,
  type Chunks,
  chunkBytes,
  EPOCH_BYTES,
  INDEX_BYTES,
  VALIDATORS_PER_CHUNK,
  type ValidatorSelection,
} from "./registry-chunks.ts";

export interface BalanceList extends ValidatorSelection {
  balanceChunks: Chunks;
}

export interface IdentityList extends ValidatorSelection {
  validatorChunks: Chunks;
}

export interface ValidatorList extends BalanceList, IdentityList {
  /** The epoch for which statuses are computed. */
  epoch: number;
  /** Set of statuses. Validators with other statuses are filtered out. */
  statuses: number;
}

type Steps = Generator<void, void, void>;

const INDEX = constant('{"index":"');
const BALANCE = constant('","balance":"');
/** Indexed by status. */
const STATUS_AND_PUBKEY = VALIDATOR_STATUSES.map((status) =>
  constant(`","status":"${status}","validator":{"pubkey":"0x`),
);
const CREDENTIALS = constant('","withdrawal_credentials":"0x');
const EFFECTIVE_BALANCE = constant('","effective_balance":"');
const NOT_SLASHED = constant('","slashed":false,"activation_eligibility_epoch":"');
const SLASHED = constant('","slashed":true,"activation_eligibility_epoch":"');
const ACTIVATION = constant('","activation_epoch":"');
const EXIT = constant('","exit_epoch":"');
const WITHDRAWABLE = constant('","withdrawable_epoch":"');
const END_OF_VALIDATOR = constant('"}}');
/** Shortcut for validators that have not exited. */
const NO_EXIT = constant('","exit_epoch":"18446744073709551615","withdrawable_epoch":"18446744073709551615');
const PUBKEY = constant('","pubkey":"0x');
const RECORD = constant('{"pubkey":"0x');
const END = constant('"}');

/** Reduces a list to the validator at a position. Returns undefined if the list is too short. */
export function validatorAtPosition(list: ValidatorList, position: number): ValidatorList | undefined {
  if (list.indices?.length === 1 && position === 0) return list;
  const inChunk = position % VALIDATORS_PER_CHUNK;
  const recordOf = (chunks: Chunks, bytes: number) =>
    chunks[Math.floor(position / VALIDATORS_PER_CHUNK)]?.slice(inChunk * bytes, (inChunk + 1) * bytes);
  const validator = recordOf(list.validatorChunks, VALIDATOR_BYTES);
  const balance = recordOf(list.balanceChunks, BALANCE_BYTES);
  if (!validator?.byteLength || !balance?.byteLength) return undefined;
  const indices = Uint32Array.of(list.indices?.[position] ?? position);
  return { ...list, indices, validatorChunks: [validator], balanceChunks: [balance] };
}

/** Writes the response data for getStateValidators (Beacon API). */
export function* writeValidators(list: ValidatorList, out: ByteWriter): Steps {
  const { validatorChunks, balanceChunks, epoch, statuses } = list;
  const array = new JsonArray(out);
  yield* eachRecord(validatorChunks, VALIDATOR_BYTES, list, out, (chunk) => {
    const { bytes, view } = viewsOf(validatorChunks[chunk]!);
    const balances = new DataView(balanceChunks[chunk]!);
    return (position, index) => {
      const at = position * VALIDATOR_BYTES;
      const status = statusAt(view, at, epoch);
      if ((statuses & (1 << status)) === 0) return;
      array.beforeItem();
      out.constant(INDEX);
      out.uint(index);
      out.constant(BALANCE);
      writeUint64(out, balances, position * BALANCE_BYTES);
      out.constant(STATUS_AND_PUBKEY[status]!);
      writeFields(out, bytes, view, at);
      out.constant(END_OF_VALIDATOR);
    };
  });
  array.close();
}

/** Writes the `validators` field of a state as JSON. */
export function* writeValidatorRecords(validatorChunks: Chunks, out: ByteWriter): Steps {
  const array = new JsonArray(out);
  yield* eachRecord(validatorChunks, VALIDATOR_BYTES, {}, out, (chunk) => {
    const { bytes, view } = viewsOf(validatorChunks[chunk]!);
    return (position) => {
      array.beforeItem();
      out.constant(RECORD);
      writeFields(out, bytes, view, position * VALIDATOR_BYTES);
      out.constant(END);
    };
  });
  array.close();
}

/** Writes the `balances` field of a state as JSON. */
export function* writeBalanceRecords(balanceChunks: Chunks, out: ByteWriter): Steps {
  const array = new JsonArray(out);
  yield* eachRecord(balanceChunks, BALANCE_BYTES, {}, out, (chunk) => {
    const balances = new DataView(balanceChunks[chunk]!);
    return (position) => {
      array.beforeItem();
      out.byte(QUOTE);
      writeUint64(out, balances, position * BALANCE_BYTES);
      out.byte(QUOTE);
    };
  });
  array.close();
}

/** Writes the fields of a validator, from the public key to the withdrawable epoch. */
function writeFields(out: ByteWriter, bytes: Uint8Array, view: DataView, at: number): void {
  out.hex(bytes, at + VALIDATOR_FIELDS.pubkey, PUBKEY_BYTES);
  out.constant(CREDENTIALS);
  out.hex(bytes, at + VALIDATOR_FIELDS.withdrawalCredentials, CREDENTIALS_BYTES);
  out.constant(EFFECTIVE_BALANCE);
  writeUint64(out, view, at + VALIDATOR_FIELDS.effectiveBalance);
  out.constant(bytes[at + VALIDATOR_FIELDS.slashed] === 1 ? SLASHED : NOT_SLASHED);
  writeUint64(out, view, at + VALIDATOR_FIELDS.activationEligibilityEpoch);
  out.constant(ACTIVATION);
  writeUint64(out, view, at + VALIDATOR_FIELDS.activationEpoch);
  if (
    isFarFuture(view, at + VALIDATOR_FIELDS.exitEpoch) &&
    isFarFuture(view, at + VALIDATOR_FIELDS.withdrawableEpoch)
  ) {
    out.constant(NO_EXIT);
    return;
  }
  out.constant(EXIT);
  writeUint64(out, view, at + VALIDATOR_FIELDS.exitEpoch);
  out.constant(WITHDRAWABLE);
  writeUint64(out, view, at + VALIDATOR_FIELDS.withdrawableEpoch);
}

/** Writes the response data for getStateValidatorBalances (Beacon API). */
export function* writeBalances(list: BalanceList, out: ByteWriter): Steps {
  const { balanceChunks } = list;
  const array = new JsonArray(out);
  yield* eachRecord(balanceChunks, BALANCE_BYTES, list, out, (chunk) => {
    const balances = new DataView(balanceChunks[chunk]!);
    return (position, index) => {
      array.beforeItem();
      out.constant(INDEX);
      out.uint(index);
      out.constant(BALANCE);
      writeUint64(out, balances, position * BALANCE_BYTES);
      out.constant(END);
    };
  });
  array.close();
}

export function balancesSszLength({ balanceChunks }: BalanceList): number {
  return (chunkBytes(balanceChunks) / BALANCE_BYTES) * (INDEX_BYTES + BALANCE_BYTES);
}

export function* writeBalancesSsz(list: BalanceList, out: ByteWriter): Steps {
  const { balanceChunks } = list;
  yield* eachRecord(balanceChunks, BALANCE_BYTES, list, out, (chunk) => {
    const bytes = new Uint8Array(balanceChunks[chunk]!);
    return (position, index) => {
      out.littleEndian64(index);
      out.copy(bytes, position * BALANCE_BYTES, BALANCE_BYTES);
    };
  });
}

/** Writes the response data for getStateValidatorIdentities (Beacon API). */
export function* writeIdentities(list: IdentityList, out: ByteWriter): Steps {
  const { validatorChunks } = list;
  const array = new JsonArray(out);
  yield* eachRecord(validatorChunks, VALIDATOR_BYTES, list, out, (chunk) => {
    const { bytes, view } = viewsOf(validatorChunks[chunk]!);
    return (position, index) => {
      const at = position * VALIDATOR_BYTES;
      array.beforeItem();
      out.constant(INDEX);
      out.uint(index);
      out.constant(PUBKEY);
      out.hex(bytes, at + VALIDATOR_FIELDS.pubkey, PUBKEY_BYTES);
      out.constant(ACTIVATION);
      writeUint64(out, view, at + VALIDATOR_FIELDS.activationEpoch);
      out.constant(END);
    };
  });
  array.close();
}

export function identitiesSszLength({ validatorChunks }: IdentityList): number {
  return (chunkBytes(validatorChunks) / VALIDATOR_BYTES) * (INDEX_BYTES + PUBKEY_BYTES + EPOCH_BYTES);
}

export function* writeIdentitiesSsz(list: IdentityList, out: ByteWriter): Steps {
  const { validatorChunks } = list;
  yield* eachRecord(validatorChunks, VALIDATOR_BYTES, list, out, (chunk) => {
    const bytes = new Uint8Array(validatorChunks[chunk]!);
    return (position, index) => {
      const at = position * VALIDATOR_BYTES;
      out.littleEndian64(index);
      out.copy(bytes, at + VALIDATOR_FIELDS.pubkey, PUBKEY_BYTES);
      out.copy(bytes, at + VALIDATOR_FIELDS.activationEpoch, EPOCH_BYTES);
    };
  });
}

/**
 * Iterates over all records. `open` returns a function that writes the records of one chunk, given their position and
 * index.
 */
function* eachRecord(
  chunks: Chunks,
  recordBytes: number,
  { indices }: ValidatorSelection,
  out: ByteWriter,
  open: (chunk: number) => (position: number, index: number) => void,
): Steps {
  for (const [chunk, { byteLength }] of chunks.entries()) {
    const write = open(chunk);
    const first = chunk * VALIDATORS_PER_CHUNK;
    const length = byteLength / recordBytes;
    for (let position = 0; position < length; position++) {
      if (out.room < MIN_ROOM_BYTES) yield;
      write(position, indices === undefined ? first + position : indices[first + position]!);
    }
    yield;
  }
}

function viewsOf(chunk: SharedArrayBuffer): { bytes: Uint8Array; view: DataView } {
  return { bytes: new Uint8Array(chunk), view: new DataView(chunk) };
}

function writeUint64(out: ByteWriter, source: DataView, at: number): void {
  out.uint64(source.getUint32(at, true), source.getUint32(at + 4, true));
}

/** Writes the brackets and commas of a JSON array. */
class JsonArray {
  readonly #out: ByteWriter;
  #isEmpty = true;

  constructor(out: ByteWriter) {
    this.#out = out;
  }

  beforeItem(): void {
    this.#out.byte(this.#isEmpty ? OPEN : COMMA);
    this.#isEmpty = false;
  }

  close(): void {
    if (this.#isEmpty) this.#out.byte(OPEN);
    this.#out.byte(CLOSE);
  }
}

const QUOTE = '"'.charCodeAt(0);
const OPEN = "[".charCodeAt(0);
const CLOSE = "]".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
