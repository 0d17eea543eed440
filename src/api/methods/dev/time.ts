import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { SYSTEM_TIMERS } from "../../../async/timers.ts";
import { MAX_SPEED } from "../../../chain/clock/clock.ts";
import { Failure, invalidParams } from "../../../errors/failure.ts";
import type { ApiContext } from "../../context.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { controlOf, LONGER_SLOTS } from "../../dev-control.ts";
import { integerUpTo, numberBetween } from "../../params/scalars.ts";
import { shape } from "../../schemas.ts";
import { conditionOf } from "./advance-condition.ts";
import { type Goal, goal } from "./advance-goal.ts";
import { DEV_METHOD } from "./dev-method.ts";

/** Maximum number of slots per call. With the minimal preset, a full exit takes 2100 slots. */
export const MAX_SLOTS_PER_CALL = 65_536;

/**
 * Default time limit for a call that waits for a condition. Shorter than the default of --call-timeout, so that a call
 * over HTTP fails with the condition's error.
 */
const UNTIL_SECONDS = 50;
const MAX_TIMEOUT_SECONDS = 86_400;

const RAISE_TIMEOUT = " timeout_seconds, or timeoutSeconds in the library, raises the limit.";

const speedFactor = numberBetween(0, MAX_SPEED, `a number from 0 to ${MAX_SPEED}`);

const slots = integerUpTo(BigInt(MAX_SLOTS_PER_CALL), `a number of slots from 0 to ${MAX_SLOTS_PER_CALL}`);
const epochs = integerUpTo(
  BigInt(Math.floor(MAX_SLOTS_PER_CALL / SLOTS_PER_EPOCH)),
  `a number of epochs from 0 to ${Math.floor(MAX_SLOTS_PER_CALL / SLOTS_PER_EPOCH)}`,
);

const timeoutSeconds = numberBetween(
  0,
  MAX_TIMEOUT_SECONDS,
  `a number of seconds of real time from 0 to ${MAX_TIMEOUT_SECONDS}`,
);

/** The result of methods that advance the chain: clock, head and checkpoints. */
export const position = { name: "position", schema: shape("ChainPosition") };

export function positionOf({ chain }: Pick<ApiContext, "chain">) {
  const { clock, head, justifiedCheckpoint, finalizedCheckpoint } = chain;
  return {
    slot: String(clock.currentSlot),
    epoch: String(clock.currentEpoch),
    head_slot: String(head.slot),
    head_block_root: head.root,
    justified_epoch: String(justifiedCheckpoint.epoch),
    finalized_epoch: String(finalizedCheckpoint.epoch),
    speed: clock.isFlowing ? clock.speed : 0,
  };
}

const devAdvance = defineMethod({
  ...DEV_METHOD,
  name: "dev_advance",
  summary: "Runs slots immediately, with all validator duties: one, a given number, or until a condition holds.",
  params: {
    slots: optional(slots, "Number of slots. Default: 1."),
    epochs: optional(epochs, "Number of epochs, instead of slots."),
    until: optional(
      goal,
      "Condition to run until, instead of a number. A later status of the validator on the same path counts as reached. " +
        "Fails early for a status that the validator can no longer reach and, from electra on, for a public key whose " +
        'deposit is dropped or that has had none for 32 epochs. "empty" fails early unless a fault of payloads is scheduled.',
    ),
    limit: optional(
      slots,
      `Maximum number of slots for \`until\`. Default: ${MAX_SLOTS_PER_CALL}. The error says what holds instead.`,
    ),
    timeoutSeconds: optional(
      timeoutSeconds,
      `Maximum duration in seconds of real time. Default: ${UNTIL_SECONDS} for \`until\`, otherwise only the ` +
        "server's limit. Slots that have already passed are kept.",
    ),
  },
  result: position,
  failures: ["not-found", "rejected", "unsupported"],
  example: { stage: "control", params: [2] },
  async handler(context, { slots, epochs, until, limit, timeoutSeconds }, call) {
    requireOne({ slots, epochs, until });
    if (limit !== undefined && until === undefined) throw invalidParams("limit requires until.");
    const control = controlOf(context);
    const { time } = control;
    const signal = call?.signal;
    if (until === undefined) {
      const range = { ...timedRange(countOf(slots, epochs), timeoutSeconds), signal };
      requireAll(await time.advance(range), range);
      return positionOf(context);
    }
    const condition = conditionOf(context.chain, until, control);
    requireMaxSlots(firstSlotOf(until) - context.chain.clock.currentSlot);
    if (condition.holds()) return positionOf(context);
    const { slots: maxSlots, ...range } = timedRange(limit ?? MAX_SLOTS_PER_CALL, timeoutSeconds ?? UNTIL_SECONDS);
    const slotsRun = await time.advance({
      slots: maxSlots,
      until: () => condition.holds() || range.until(),
      describe: () => condition.actual(),
      signal,
    });
    signal?.throwIfAborted();
    if (condition.holds()) return positionOf(context);
    const isTimeout = slotsRun < maxSlots;
    throw new Failure(
      "limit-exceeded",
      `The condition does not hold after ${isTimeout ? `${secondsOf(range)} and ` : ""}${slotsRun} slots, at slot ` +
        `${context.chain.clock.currentSlot}: ${condition.actual()}.${isTimeout ? RAISE_TIMEOUT : ""}`,
    );
  },
});

const devSkip = defineMethod({
  ...DEV_METHOD,
  name: "dev_skip",
  summary: "Runs slots immediately without any duties, as if all validators were offline.",
  params: {
    slots: optional(slots, "Number of slots. Default: 1."),
    epochs: optional(epochs, "Number of epochs, instead of slots."),
    timeoutSeconds: optional(
      timeoutSeconds,
      "Maximum duration in seconds of real time. Default: only the server's limit. Slots that have already passed are kept.",
    ),
  },
  result: position,
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: [3] },
  async handler(context, { slots, epochs, timeoutSeconds }, call) {
    requireOne({ slots, epochs });
    const range = { ...timedRange(countOf(slots, epochs), timeoutSeconds), signal: call?.signal };
    requireAll(await controlOf(context).time.skip(range), range);
    return positionOf(context);
  },
});

const devPause = defineMethod({
  ...DEV_METHOD,
  name: "dev_pause",
  summary: "Pauses the clock after the duties of the current slot, until dev_resume.",
  result: position,
  example: { stage: "control" },
  async handler(context) {
    await controlOf(context).time.pause();
    return positionOf(context);
  },
});

const devResume = defineMethod({
  ...DEV_METHOD,
  name: "dev_resume",
  summary: "Resumes the clock at its previous speed.",
  result: position,
  example: { stage: "control" },
  async handler(context) {
    await controlOf(context).time.resume();
    return positionOf(context);
  },
});

const devSetSpeed = defineMethod({
  ...DEV_METHOD,
  name: "dev_setSpeed",
  summary: "Sets the speed of the clock. 0 pauses it, so that the chain advances only on request.",
  params: { speed: required(speedFactor, "Seconds of chain time per second of real time.") },
  result: position,
  example: { stage: "control", params: [0] },
  async handler(context, { speed }) {
    await controlOf(context).time.setSpeed(speed);
    return positionOf(context);
  },
});

function countOf(slots: number | undefined, epochs: number | undefined): number {
  return slots ?? (epochs === undefined ? 1 : epochs * SLOTS_PER_EPOCH);
}

/** Returns the arguments for a run of slots that stops early after a duration. */
function timedRange(slots: number, seconds = Number.POSITIVE_INFINITY) {
  const end = SYSTEM_TIMERS.now() + seconds * 1000;
  return { slots, seconds, until: () => SYSTEM_TIMERS.now() >= end };
}

const secondsOf = ({ seconds }: { seconds: number }): string => `${seconds} second${seconds === 1 ? "" : "s"}`;

/** Throws if the run stopped before its last slot. */
function requireAll(
  slotsRun: number,
  { slots, seconds, signal }: { slots: number; seconds: number; signal?: AbortSignal | undefined },
): void {
  signal?.throwIfAborted();
  if (slotsRun === slots) return;
  throw new Failure(
    "limit-exceeded",
    `Only ${slotsRun} of ${slots} slots passed within ${secondsOf({ seconds })}.${RAISE_TIMEOUT}`,
  );
}

export function requireMaxSlots(slots: number): void {
  if (slots <= MAX_SLOTS_PER_CALL) return;
  const needed = `One call runs at most ${MAX_SLOTS_PER_CALL} slots, but this one needs ${slots}.`;
  throw invalidParams(`${needed} ${LONGER_SLOTS}`);
}

/** Returns the first slot in which a goal may be reached, or 0 if the goal depends on more than time. */
function firstSlotOf(goal: Goal): number {
  if (typeof goal === "string" || "validator" in goal) return 0;
  if ("slot" in goal) return goal.slot;
  return ("epoch" in goal ? goal.epoch : goal.finalized) * SLOTS_PER_EPOCH;
}

function requireOne(params: Record<string, unknown>): void {
  const names = Object.keys(params).filter((name) => params[name] !== undefined);
  if (names.length <= 1) return;
  throw invalidParams(`${names.join(" and ")} are mutually exclusive. Give only one of them.`);
}

export const devTimeMethods = [devAdvance, devSkip, devPause, devResume, devSetSpeed] as const;
