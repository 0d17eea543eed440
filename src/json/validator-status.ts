import { VALIDATOR_FIELDS } from "../ssz/validator-layout.ts";

const TWO_TO_32 = 2 ** 32;

/** What a validator can be, in the order of its life; what stands before the underscore is a status's group. */
export const VALIDATOR_STATUSES = [
  "pending_initialized",
  "pending_queued",
  "active_ongoing",
  "active_exiting",
  "active_slashed",
  "exited_unslashed",
  "exited_slashed",
  "withdrawal_possible",
  "withdrawal_done",
] as const;

type Status = (typeof VALIDATOR_STATUSES)[number];

const place = (status: Status) => VALIDATOR_STATUSES.indexOf(status);
const PENDING_INITIALIZED = place("pending_initialized");
const PENDING_QUEUED = place("pending_queued");
const ACTIVE_ONGOING = place("active_ongoing");
const ACTIVE_EXITING = place("active_exiting");
const ACTIVE_SLASHED = place("active_slashed");
const EXITED_UNSLASHED = place("exited_unslashed");
const EXITED_SLASHED = place("exited_slashed");
const WITHDRAWAL_POSSIBLE = place("withdrawal_possible");
const WITHDRAWAL_DONE = place("withdrawal_done");

/** A set of statuses as the bits of a number. */
export const ANY_STATUS = 2 ** VALIDATOR_STATUSES.length - 1;

/** The set that statuses and groups stand for; none given means any. */
export function statusSet(words: readonly string[]): number {
  if (words.length === 0) return ANY_STATUS;
  return VALIDATOR_STATUSES.reduce(
    (set, status, bit) => (words.includes(status) || words.includes(status.split("_")[0]!) ? set | (1 << bit) : set),
    0,
  );
}

/** The place among `VALIDATOR_STATUSES` of the status that the validator whose bytes begin there has in an epoch. */
export function statusAt(bytes: DataView, at: number, epoch: number): number {
  if (epochAt(bytes, at + VALIDATOR_FIELDS.activationEpoch) > epoch) {
    const eligibility = epochAt(bytes, at + VALIDATOR_FIELDS.activationEligibilityEpoch);
    return eligibility === Number.POSITIVE_INFINITY ? PENDING_INITIALIZED : PENDING_QUEUED;
  }
  const isSlashed = bytes.getUint8(at + VALIDATOR_FIELDS.slashed) === 1;
  const exit = epochAt(bytes, at + VALIDATOR_FIELDS.exitEpoch);
  if (exit === Number.POSITIVE_INFINITY) return ACTIVE_ONGOING;
  if (exit > epoch) return isSlashed ? ACTIVE_SLASHED : ACTIVE_EXITING;
  if (epochAt(bytes, at + VALIDATOR_FIELDS.withdrawableEpoch) > epoch)
    return isSlashed ? EXITED_SLASHED : EXITED_UNSLASHED;
  const hasBalance =
    bytes.getUint32(at + VALIDATOR_FIELDS.effectiveBalance, true) !== 0 ||
    bytes.getUint32(at + VALIDATOR_FIELDS.effectiveBalance + 4, true) !== 0;
  return hasBalance ? WITHDRAWAL_POSSIBLE : WITHDRAWAL_DONE;
}

/** Whether the epoch whose bytes begin there is one that never comes. */
export function isNever(bytes: DataView, at: number): boolean {
  return bytes.getUint32(at, true) === 0xffffffff && bytes.getUint32(at + 4, true) === 0xffffffff;
}

/** `Infinity` for one that never comes. */
function epochAt(bytes: DataView, at: number): number {
  if (isNever(bytes, at)) return Number.POSITIVE_INFINITY;
  return bytes.getUint32(at + 4, true) * TWO_TO_32 + bytes.getUint32(at, true);
}
