import { VALIDATOR_FIELDS } from "../ssz/validator-layout.ts";

const TWO_TO_32 = 2 ** 32;

/** The Beacon API's validator statuses in life cycle order. The part before the underscore is the group. */
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

const bitOf = (status: Status) => VALIDATOR_STATUSES.indexOf(status);
const PENDING_INITIALIZED = bitOf("pending_initialized");
const PENDING_QUEUED = bitOf("pending_queued");
const ACTIVE_ONGOING = bitOf("active_ongoing");
const ACTIVE_EXITING = bitOf("active_exiting");
const ACTIVE_SLASHED = bitOf("active_slashed");
const EXITED_UNSLASHED = bitOf("exited_unslashed");
const EXITED_SLASHED = bitOf("exited_slashed");
const WITHDRAWAL_POSSIBLE = bitOf("withdrawal_possible");
const WITHDRAWAL_DONE = bitOf("withdrawal_done");

/** Bit mask of all statuses. Bit n stands for the status at index n. */
export const ANY_STATUS = 2 ** VALIDATOR_STATUSES.length - 1;

/** Returns the bit mask of the given statuses and groups. An empty list selects all statuses. */
export function statusSet(names: readonly string[]): number {
  if (names.length === 0) return ANY_STATUS;
  return VALIDATOR_STATUSES.reduce(
    (set, status, bit) => (names.includes(status) || names.includes(status.split("_")[0]!) ? set | (1 << bit) : set),
    0,
  );
}

/**
 * Returns a validator's status in an epoch, as an index into `VALIDATOR_STATUSES`. `at` is the validator's SSZ offset.
 */
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

/** Returns true if the epoch at `at` is FAR_FUTURE_EPOCH. */
export function isFarFuture(bytes: DataView, at: number): boolean {
  return bytes.getUint32(at, true) === 0xffffffff && bytes.getUint32(at + 4, true) === 0xffffffff;
}

/** Reads an epoch. Returns `Infinity` for FAR_FUTURE_EPOCH. */
function epochAt(bytes: DataView, at: number): number {
  if (isFarFuture(bytes, at)) return Number.POSITIVE_INFINITY;
  return bytes.getUint32(at + 4, true) * TWO_TO_32 + bytes.getUint32(at, true);
}
