import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { MAX_SPEED } from "../../../chain/clock/clock.ts";
import { Failure, invalidParams } from "../../../errors/failure.ts";
import type { ApiContext } from "../../context.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { integerUpTo, numberBetween } from "../../params/scalars.ts";
import { shape } from "../../schemas.ts";
import { conditionOf } from "./advance-condition.ts";
import { goal } from "./advance-goal.ts";
import { DEV_METHOD } from "./dev-method.ts";

/** Maximum number of slots per call. A full exit takes 2100 slots in the minimal preset. */
export const MAX_SLOTS_PER_CALL = 65_536;

const speedFactor = numberBetween(0, MAX_SPEED, `a number from 0 to ${MAX_SPEED}`);

const slots = integerUpTo(BigInt(MAX_SLOTS_PER_CALL), `a number of slots from 0 to ${MAX_SLOTS_PER_CALL}`);
const epochs = integerUpTo(
  BigInt(Math.floor(MAX_SLOTS_PER_CALL / SLOTS_PER_EPOCH)),
  `a number of epochs from 0 to ${Math.floor(MAX_SLOTS_PER_CALL / SLOTS_PER_EPOCH)}`,
);

/** Result of the methods that advance the chain: clock, head and checkpoints. */
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
      "Condition to run until, instead of a number. Fails after `limit` slots. From electra on, the status of a public key " +
        "fails early: if its deposit is dropped, or if it has had none for 32 epochs.",
    ),
    limit: optional(
      slots,
      `Maximum number of slots for \`until\`. Default: ${MAX_SLOTS_PER_CALL}. The error says what holds instead.`,
    ),
  },
  result: position,
  failures: ["not-found", "unsupported"],
  example: { stage: "control", params: [2] },
  async handler(context, { slots, epochs, until, limit }, call) {
    requireOne({ slots, epochs, until });
    if (limit !== undefined && until === undefined) throw invalidParams("limit requires until.");
    const { time } = controlOf(context);
    const signal = call?.signal;
    if (until === undefined) {
      await time.advance({ slots: slots ?? (epochs === undefined ? 1 : epochs * SLOTS_PER_EPOCH), signal });
      return positionOf(context);
    }
    const condition = conditionOf(context.chain, until);
    const maxSlots = limit ?? MAX_SLOTS_PER_CALL;
    if (!condition.holds()) await time.advance({ slots: maxSlots, until: () => condition.holds(), signal });
    if (condition.holds()) return positionOf(context);
    const { currentSlot } = context.chain.clock;
    throw new Failure(
      "limit-exceeded",
      `The condition does not hold after ${maxSlots} slots, at slot ${currentSlot}: ${condition.actual()}.`,
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
  },
  result: position,
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: [3] },
  async handler(context, { slots, epochs }, call) {
    requireOne({ slots, epochs });
    const count = slots ?? (epochs === undefined ? 1 : epochs * SLOTS_PER_EPOCH);
    await controlOf(context).time.skip({ slots: count, signal: call?.signal });
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

function requireOne(given: Record<string, unknown>): void {
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  if (names.length <= 1) return;
  throw invalidParams(`${names.join(" and ")} are mutually exclusive. Give only one of them.`);
}

export const devTimeMethods = [devAdvance, devSkip, devPause, devResume, devSetSpeed] as const;
