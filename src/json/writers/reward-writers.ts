import { type ByteWriter, type Constant, constant } from "../byte-writer.ts";
import { MIN_ROOM_BYTES } from "../stream-writer.ts";

type Steps = Generator<void, void, void>;

/** Attestation rewards in Gwei. `key` is the validator index or the effective balance. */
export interface RewardRow {
  key: number;
  head: number;
  target: number;
  source: number;
  /** Only set in phase0. */
  inclusionDelay?: number;
  inactivity: number;
}

/** Attestation rewards for an epoch as concatenated rows. */
export interface RewardList {
  ideal: Float64Array;
  total: Float64Array;
  hasInclusionDelays: boolean;
}

const ROW_LENGTH = 6;

const MINUS = "-".charCodeAt(0);
const COMMA = ",".charCodeAt(0);

const IDEAL_REWARDS = constant('{"ideal_rewards":[');
const TOTAL_REWARDS = constant('],"total_rewards":[');
const END_OF_LISTS = constant("]}");
const EFFECTIVE_BALANCE = constant('{"effective_balance":"');
const VALIDATOR_INDEX = constant('{"validator_index":"');
const HEAD = constant('","head":"');
const TARGET = constant('","target":"');
const SOURCE = constant('","source":"');
const INCLUSION_DELAY = constant('","inclusion_delay":"');
const INACTIVITY = constant('","inactivity":"');
const END = constant('"}');

/** Writes the response data for getAttestationsRewards (Beacon API). */
export function* writeAttestationRewards({ ideal, total, hasInclusionDelays }: RewardList, out: ByteWriter): Steps {
  out.constant(IDEAL_REWARDS);
  yield* writeRows(ideal, EFFECTIVE_BALANCE, hasInclusionDelays, out);
  if (out.room < MIN_ROOM_BYTES) yield;
  out.constant(TOTAL_REWARDS);
  yield* writeRows(total, VALIDATOR_INDEX, hasInclusionDelays, out);
  if (out.room < MIN_ROOM_BYTES) yield;
  out.constant(END_OF_LISTS);
}

function* writeRows(rows: Float64Array, key: Constant, hasInclusionDelays: boolean, out: ByteWriter): Steps {
  for (let at = 0; at < rows.length; at += ROW_LENGTH) {
    if (out.room < MIN_ROOM_BYTES) yield;
    if (at > 0) out.byte(COMMA);
    out.constant(key);
    out.uint(rows[at]!);
    out.constant(HEAD);
    writeAmount(out, rows[at + 1]!);
    out.constant(TARGET);
    writeAmount(out, rows[at + 2]!);
    out.constant(SOURCE);
    writeAmount(out, rows[at + 3]!);
    if (hasInclusionDelays) {
      out.constant(INCLUSION_DELAY);
      writeAmount(out, rows[at + 4]!);
    }
    out.constant(INACTIVITY);
    writeAmount(out, rows[at + 5]!);
    out.constant(END);
  }
}

function writeAmount(out: ByteWriter, amount: number): void {
  if (amount < 0) out.byte(MINUS);
  out.uint(Math.abs(amount));
}

/** Collects rewards in shared memory. */
export class RewardRows {
  readonly rows: Float64Array;
  #at = 0;

  constructor(count: number) {
    this.rows = new Float64Array(new SharedArrayBuffer(count * ROW_LENGTH * Float64Array.BYTES_PER_ELEMENT));
  }

  add({ key, head, target, source, inclusionDelay = 0, inactivity }: RewardRow): void {
    const at = this.#at;
    this.rows[at] = key;
    this.rows[at + 1] = head;
    this.rows[at + 2] = target;
    this.rows[at + 3] = source;
    this.rows[at + 4] = inclusionDelay;
    this.rows[at + 5] = inactivity;
    this.#at = at + ROW_LENGTH;
  }
}
