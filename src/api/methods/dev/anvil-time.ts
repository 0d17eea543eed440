import type { Slot } from "@lodestar/types";
import { type Clock, MAX_SPEED, SlotTime } from "../../../chain/clock/clock.ts";
import { invalidParams } from "../../../errors/failure.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { numberOrQuantityUpTo, quantity, quantityUpTo } from "../../params/quantities.ts";
import { boolean } from "../../params/scalars.ts";
import { boolean as anyBoolean, described, either, nothing, number } from "../../schemas.ts";
import { fromObject, QUANTITY } from "./anvil-forms.ts";
import { DEV_METHOD } from "./dev-method.ts";
import { MAX_SLOTS_PER_CALL, requireMaxSlots } from "./time.ts";

// Time and mining, under the names that Anvil, Hardhat and Ganache use. Mining a block means running a slot, and the
// block's timestamp is the start of that slot.

const blockCount = quantityUpTo(MAX_SLOTS_PER_CALL, `a number of blocks from 0 to ${MAX_SLOTS_PER_CALL}`);
const seconds = quantityUpTo(Number.MAX_SAFE_INTEGER, "a number of seconds from 0 to 2^53-1");
const timestamp = quantityUpTo(Number.MAX_SAFE_INTEGER, "a time in Unix seconds from 0 to 2^53-1");
const slotSeconds = numberOrQuantityUpTo(Number.MAX_SAFE_INTEGER, "a number of seconds from 0 to 2^53-1");

const DONE = { name: "done", schema: nothing };

const anvilMine = defineMethod({
  ...DEV_METHOD,
  name: "anvil_mine",
  aliases: ["hardhat_mine"],
  summary: "Runs slots with blocks immediately: one, or a given number.",
  params: {
    blocks: optional(blockCount, "Number of blocks. Default: 1."),
    interval: optional(seconds, "Seconds between blocks. If it is longer than a slot, the slots between stay empty."),
  },
  result: DONE,
  example: { stage: "control", params: ["0x2", "0x0"] },
  async handler(context, { blocks = 1, interval = 0 }, call) {
    const { clock } = context.chain;
    const { time } = controlOf(context);
    const every = Math.max(1, slotsWithin(clock, interval, "rounded-up"));
    requireMaxSlots(blocks * every);
    await time.advance({ slots: blocks * every, staysEmpty: allButEvery(every), signal: call?.signal });
    return null;
  },
});

const evmMine = defineMethod({
  ...DEV_METHOD,
  name: "evm_mine",
  summary: "Runs slots with blocks immediately: one, a given number, or from a given time on.",
  params: {
    timestamp: optional(
      timestamp,
      "Unix seconds: the first block is in the first slot from then on. Slots before it stay empty.",
    ),
    blocks: optional(blockCount, "Number of blocks. Default: 1."),
  },
  normalizePositional: fromObject("timestamp", "blocks"),
  result: { name: "zero", schema: described(QUANTITY, "Always 0x0.") },
  example: { stage: "control" },
  async handler(context, { timestamp, blocks = 1 }, call) {
    const { clock } = context.chain;
    const { time } = controlOf(context);
    const signal = call?.signal;
    if (timestamp === undefined) await time.advance({ slots: blocks, signal });
    else {
      const first = futureSlotFrom(clock, timestamp);
      const last = first + blocks - 1;
      const slots = last - clock.currentSlot;
      requireMaxSlots(slots);
      const until = () => clock.currentSlot >= last;
      await time.advance({ slots, until, staysEmpty: (slot) => slot < first, signal });
    }
    return quantity(0);
  },
});

const evmIncreaseTime = defineMethod({
  ...DEV_METHOD,
  name: "evm_increaseTime",
  aliases: ["anvil_increaseTime"],
  summary: "Runs the empty slots that fit into a number of seconds.",
  params: { seconds: required(seconds, "Number of seconds.") },
  result: { name: "seconds", schema: described(QUANTITY, "Number of seconds that passed.") },
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: ["0x7"] },
  async handler(context, { seconds }, call) {
    const { clock } = context.chain;
    const { time } = controlOf(context);
    const slots = slotsWithin(clock, seconds, "rounded-down");
    requireMaxSlots(slots);
    await time.skip({ slots, signal: call?.signal });
    return quantity(Math.floor(slots * clock.secondsPerSlot));
  },
});

const evmSetNextBlockTimestamp = defineMethod({
  ...DEV_METHOD,
  name: "evm_setNextBlockTimestamp",
  aliases: ["anvil_setNextBlockTimestamp"],
  summary: "Runs empty slots until the next slot is the first that starts at or after a given time.",
  params: { timestamp: required(timestamp, "Unix seconds. Rounded up to the start of a slot.") },
  result: DONE,
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: (chain) => [quantity(chain.nextSlotSeconds())] },
  async handler(context, { timestamp }, call) {
    const { clock } = context.chain;
    const { time } = controlOf(context);
    const last = futureSlotFrom(clock, timestamp) - 1;
    const slots = last - clock.currentSlot;
    requireMaxSlots(slots);
    await time.skip({ slots, until: () => clock.currentSlot >= last, signal: call?.signal });
    return null;
  },
});

const evmSetAutomine = defineMethod({
  ...DEV_METHOD,
  name: "evm_setAutomine",
  aliases: ["anvil_setAutomine"],
  summary:
    "Turns automine on or off: a transaction makes a slot pass at once. It needs a paused clock. Without the EVM, " +
    "resumes the clock at its previous speed, or pauses it.",
  params: { enabled: required(boolean, "True to turn it on.") },
  result: DONE,
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: [false] },
  async handler(context, { enabled }) {
    const { time, evm } = controlOf(context);
    if (evm) evm.automine = enabled;
    else await (enabled ? time.resume() : time.pause());
    return null;
  },
});

const minerStart = defineMethod({
  ...DEV_METHOD,
  name: "miner_start",
  summary: "Resumes the clock at its previous speed.",
  result: DONE,
  example: { stage: "control" },
  async handler(context) {
    await controlOf(context).time.resume();
    return null;
  },
});

const minerStop = defineMethod({
  ...DEV_METHOD,
  name: "miner_stop",
  summary: "Pauses the clock.",
  result: DONE,
  example: { stage: "control" },
  async handler(context) {
    await controlOf(context).time.pause();
    return null;
  },
});

const anvilGetAutomine = defineMethod({
  ...DEV_METHOD,
  name: "anvil_getAutomine",
  aliases: ["hardhat_getAutomine", "eth_mining"],
  summary: "Returns true if transactions are mined at once. Without the EVM, true if the clock is running.",
  result: { name: "enabled", schema: anyBoolean },
  example: { stage: "control" },
  handler(context) {
    return controlOf(context).evm?.automine ?? context.chain.clock.isFlowing;
  },
});

const evmSetIntervalMining = defineMethod({
  ...DEV_METHOD,
  name: "evm_setIntervalMining",
  aliases: ["anvil_setIntervalMining"],
  summary: "Sets the duration of a slot in real time. 0 pauses the clock.",
  params: { interval: required(slotSeconds, "Seconds of real time per slot.") },
  result: DONE,
  example: { stage: "control", params: [0] },
  async handler(context, { interval }) {
    const { secondsPerSlot } = context.chain.clock;
    const { time } = controlOf(context);
    const speed = interval === 0 ? 0 : secondsPerSlot / interval;
    if (speed > MAX_SPEED) {
      throw invalidParams(
        `A slot must take at least ${secondsPerSlot / MAX_SPEED} seconds, but ${interval} was given.`,
      );
    }
    await time.setSpeed(speed);
    return null;
  },
});

const anvilGetIntervalMining = defineMethod({
  ...DEV_METHOD,
  name: "anvil_getIntervalMining",
  summary: "Duration of a slot in seconds of real time; null while the clock is paused.",
  result: { name: "interval", schema: either(number, nothing) },
  example: { stage: "control" },
  handler(context) {
    controlOf(context);
    const { isFlowing, secondsPerSlot, speed } = context.chain.clock;
    return isFlowing ? secondsPerSlot / speed : null;
  },
});

/** Converts a duration to slots. */
function slotsWithin({ secondsPerSlot }: Clock, seconds: number, how: "rounded-down" | "rounded-up"): number {
  const time = new SlotTime(0, secondsPerSlot);
  return how === "rounded-up" ? firstSlotFrom(time, seconds) : time.slotAt(seconds);
}

/** Returns the first slot that starts at or after the given time. */
function firstSlotFrom(time: SlotTime, seconds: number): Slot {
  const slot = time.slotAt(seconds);
  return time.startOf(slot) < seconds ? slot + 1 : slot;
}

/** Returns the slot of a block with the given timestamp. Tools may pass a timestamp at which no slot starts. */
function futureSlotFrom({ genesisTime, secondsPerSlot, currentSlot }: Clock, timestamp: number): Slot {
  const time = new SlotTime(genesisTime, secondsPerSlot);
  const slot = firstSlotFrom(time, timestamp);
  if (slot > currentSlot) return slot;
  const next = time.startOf(currentSlot + 1);
  throw invalidParams(`The timestamp ${timestamp} is in the past: the next slot starts at ${next}.`);
}

/** Returns a predicate for empty slots, so that only every n-th of the following slots has a block. */
function allButEvery(n: number): (slot: Slot) => boolean {
  let first: Slot | undefined;
  return (slot) => {
    first ??= slot;
    return (slot - first + 1) % n !== 0;
  };
}

export const anvilTimeMethods = [
  anvilMine,
  evmMine,
  evmIncreaseTime,
  evmSetNextBlockTimestamp,
  evmSetIntervalMining,
  anvilGetIntervalMining,
  evmSetAutomine,
  anvilGetAutomine,
  minerStart,
  minerStop,
] as const;
