import { TimeSlice } from "../async/time-slice.ts";
import { statusAt } from "../json/validator-status.ts";
import { BALANCE_BYTES, type Chunks, VALIDATORS_PER_CHUNK } from "../json/writers/registry-chunks.ts";
import { VALIDATOR_BYTES, VALIDATOR_FIELDS } from "../ssz/validator-layout.ts";

export const VALIDATOR_SORT_KEYS = ["index", "balance", "effective_balance", "activation_epoch", "exit_epoch"] as const;

export type ValidatorSortKey = (typeof VALIDATOR_SORT_KEYS)[number];

export interface Registry {
  readonly validators: Chunks;
  readonly balances: Chunks;
  /** The epoch for which statuses are computed. */
  readonly epoch: number;
}

export interface RegistryQuery {
  readonly sort: ValidatorSortKey;
  /** Set of statuses. */
  readonly statuses: number;
  /** The hex digits with which the public key must start. */
  readonly pubkeyPrefix: string;
}

/** Byte offsets of sort keys within a validator. All of the keys are 64-bit integers. */
const KEY_OFFSETS: Readonly<Partial<Record<ValidatorSortKey, number>>> = {
  effective_balance: VALIDATOR_FIELDS.effectiveBalance,
  activation_epoch: VALIDATOR_FIELDS.activationEpoch,
  exit_epoch: VALIDATOR_FIELDS.exitEpoch,
};

const DIGIT_BITS = 16;
const DIGITS = 2 ** DIGIT_BITS;
const LAST_DIGIT = DIGITS - 1;
const WORD_BITS = 32;
/** Number of validators between checks of the time slice. */
const BLOCK = 65_536;

/**
 * Returns the indices of the matching validators in ascending order of the key. Validators with equal keys are sorted
 * by index. Takes linear time and is time-sliced.
 */
export async function orderValidators(
  registry: Registry,
  query: RegistryQuery,
  throwIfAborted: () => void = () => {},
): Promise<Uint32Array> {
  const slice = new TimeSlice();
  const pause = async () => {
    throwIfAborted();
    await slice.yieldIfDue();
  };
  const count = registry.validators.reduce((sum, { byteLength }) => sum + byteLength / VALIDATOR_BYTES, 0);
  const keys = query.sort === "index" ? undefined : { low: new Uint32Array(count), high: new Uint32Array(count) };
  const matching = new Uint32Array(count);
  let length = 0;
  for (const [number, chunk] of registry.validators.entries()) {
    const records = new DataView(chunk);
    const balances = new DataView(registry.balances[number]!);
    const first = number * VALIDATORS_PER_CHUNK;
    for (let position = 0; position < chunk.byteLength / VALIDATOR_BYTES; position++) {
      const at = position * VALIDATOR_BYTES;
      if ((query.statuses & (1 << statusAt(records, at, registry.epoch))) === 0) continue;
      if (!hasPrefix(records, at + VALIDATOR_FIELDS.pubkey, query.pubkeyPrefix)) continue;
      const index = first + position;
      matching[length++] = index;
      if (keys === undefined) continue;
      const offset = KEY_OFFSETS[query.sort];
      const [view, keyAt] = offset === undefined ? [balances, position * BALANCE_BYTES] : [records, at + offset];
      keys.low[index] = view.getUint32(keyAt, true);
      keys.high[index] = view.getUint32(keyAt + 4, true);
    }
    await pause();
  }
  let order = matching.subarray(0, length);
  for (const word of keys ? [keys.low, keys.high] : []) {
    for (let shift = 0; shift < WORD_BITS; shift += DIGIT_BITS) order = await sortByDigit(order, word, shift, pause);
  }
  return order;
}

/** One pass of a least significant digit radix sort, which is stable. */
async function sortByDigit(
  order: Uint32Array<ArrayBuffer>,
  keys: Uint32Array,
  shift: number,
  pause: () => Promise<void>,
): Promise<Uint32Array<ArrayBuffer>> {
  const starts = new Uint32Array(DIGITS + 1);
  for (let from = 0; from < order.length; from += BLOCK) {
    countDigits(order.subarray(from, from + BLOCK), keys, shift, starts);
    await pause();
  }
  // All keys have the same digit, so nothing has to be moved.
  if (starts.includes(order.length, 1)) return order;
  for (let digit = 0; digit < DIGITS; digit++) starts[digit + 1]! += starts[digit]!;
  const sorted = new Uint32Array(order.length);
  for (let from = 0; from < order.length; from += BLOCK) {
    moveByDigit(order.subarray(from, from + BLOCK), keys, shift, starts, sorted);
    await pause();
  }
  return sorted;
}

/** Adds the count of each digit at the index of the next digit. */
function countDigits(order: Uint32Array, keys: Uint32Array, shift: number, counts: Uint32Array): void {
  for (let at = 0; at < order.length; at++) counts[((keys[order[at]!]! >>> shift) & LAST_DIGIT) + 1]!++;
}

/** Moves each index to the next free position for its digit. */
function moveByDigit(
  order: Uint32Array,
  keys: Uint32Array,
  shift: number,
  positions: Uint32Array,
  sorted: Uint32Array,
): void {
  for (let at = 0; at < order.length; at++) {
    const index = order[at]!;
    sorted[positions[(keys[index]! >>> shift) & LAST_DIGIT]!++] = index;
  }
}

function hasPrefix(bytes: DataView, at: number, hex: string): boolean {
  for (let digit = 0; digit < hex.length; digit++) {
    const byte = bytes.getUint8(at + (digit >> 1));
    const value = digit % 2 === 0 ? byte >> 4 : byte & 15;
    if (value !== Number.parseInt(hex[digit]!, 16)) return false;
  }
  return true;
}
