import type { Slot } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { type Clock, MAX_SPEED, SlotTime } from "../../../chain/clock/clock.ts";
import { invalidParams } from "../../../errors/failure.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { numberOrQuantityUpTo, quantity, quantityUpTo } from "../../params/quantities.ts";
import { boolean } from "../../params/scalars.ts";
import {
  boolean as anyBoolean,
  described,
  either,
  isTrue,
  type JsonSchema,
  nothing,
  number,
  object,
  shape,
  text,
} from "../../schemas.ts";
import { hexDump } from "./dumps.ts";
import { MOST_SLOTS } from "./time.ts";

// What Anvil, Hardhat and Ganache call such methods, so that clients written for those drive a beacon chain: what they know as
// a block is a slot with its block here, and the timestamp of a block is when its slot begins.

const blockCount = quantityUpTo(MOST_SLOTS, `a number of blocks from 0 to ${MOST_SLOTS}`);
const seconds = quantityUpTo(Number.MAX_SAFE_INTEGER, "a number of seconds from 0 to 2^53-1");
const timestamp = quantityUpTo(Number.MAX_SAFE_INTEGER, "a time in Unix seconds from 0 to 2^53-1");
const secondsOfSlot = numberOrQuantityUpTo(Number.MAX_SAFE_INTEGER, "a number of seconds from 0 to 2^53-1");

const QUANTITY: JsonSchema = { type: "string", pattern: "^0x(0|[1-9a-f][0-9a-f]*)$" };
const DONE = { name: "done", schema: nothing };

const anvilMine = defineMethod({
  name: "anvil_mine",
  aliases: ["hardhat_mine"],
  summary: "Lets slots with blocks pass at once: one, or as many as are given.",
  params: {
    blocks: optional(blockCount, "How many blocks; by default one."),
    interval: optional(
      seconds,
      "How many seconds each is to be after the one before: slots between stay empty where that is longer than a slot.",
    ),
  },
  result: DONE,
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: ["0x2", "0x0"] },
  async handler(context, { blocks = 1, interval = 0 }, call) {
    const { clock } = context.chain;
    const { time } = controlOf(context);
    const every = Math.max(1, slotsWithin(clock, interval, "rounded-up"));
    requireFew(blocks * every);
    await time.advance({ slots: blocks * every, staysEmpty: allButEvery(every), signal: call?.signal });
    return null;
  },
});

const evmMine = defineMethod({
  name: "evm_mine",
  summary: "Lets slots with blocks pass at once: one, as many as are given, or the first when a certain slot begins.",
  params: {
    timestamp: optional(
      timestamp,
      "When the slot of the first block begins, in Unix seconds; those before stay empty.",
    ),
    blocks: optional(blockCount, "How many blocks; by default one."),
  },
  normalizePositional: fromObject("timestamp", "blocks"),
  result: { name: "zero", schema: described(QUANTITY, "Always 0x0, as everywhere.") },
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  async handler(context, { timestamp, blocks = 1 }, call) {
    const { clock } = context.chain;
    const { time } = controlOf(context);
    const signal = call?.signal;
    if (timestamp === undefined) await time.advance({ slots: blocks, signal });
    else {
      const first = slotThatBeginsAt(clock, timestamp);
      const last = first + blocks - 1;
      const slots = last - clock.currentSlot;
      requireFew(slots);
      const until = () => clock.currentSlot >= last;
      await time.advance({ slots, until, staysEmpty: (slot) => slot < first, signal });
    }
    return quantity(0);
  },
});

const evmIncreaseTime = defineMethod({
  name: "evm_increaseTime",
  aliases: ["anvil_increaseTime"],
  summary: "Lets as many slots pass at once as fit into a time, all of them empty.",
  params: { seconds: required(seconds, "How long the time is.") },
  result: { name: "seconds", schema: described(QUANTITY, "The seconds by which time went on.") },
  failures: ["rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: ["0x7"] },
  async handler(context, { seconds }, call) {
    const { clock } = context.chain;
    const { time } = controlOf(context);
    const slots = slotsWithin(clock, seconds, "rounded-down");
    requireFew(slots);
    await time.skip({ slots, signal: call?.signal });
    return quantity(Math.floor(slots * clock.secondsPerSlot));
  },
});

const evmSetNextBlockTimestamp = defineMethod({
  name: "evm_setNextBlockTimestamp",
  aliases: ["anvil_setNextBlockTimestamp"],
  summary: "Lets slots pass at once, all of them empty, so that the next one is the one that begins at a certain time.",
  params: { timestamp: required(timestamp, "When the slot of the next block begins, in Unix seconds.") },
  result: DONE,
  failures: ["rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: (chain) => [quantity(chain.nextSlotSeconds())] },
  async handler(context, { timestamp }, call) {
    const { clock } = context.chain;
    const { time } = controlOf(context);
    const last = slotThatBeginsAt(clock, timestamp) - 1;
    const slots = last - clock.currentSlot;
    requireFew(slots);
    await time.skip({ slots, until: () => clock.currentSlot >= last, signal: call?.signal });
    return null;
  },
});

const evmSetAutomine = defineMethod({
  name: "evm_setAutomine",
  aliases: ["anvil_setAutomine"],
  summary: "Lets chain time flow, as fast as it did before, or stand still.",
  params: { enabled: required(boolean, "Whether it is to flow.") },
  result: DONE,
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: [false] },
  async handler(context, { enabled }) {
    const { time } = controlOf(context);
    await (enabled ? time.resume() : time.pause());
    return null;
  },
});

const minerStart = defineMethod({
  name: "miner_start",
  summary: "Lets chain time flow, as fast as it did before.",
  result: DONE,
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  async handler(context) {
    await controlOf(context).time.resume();
    return null;
  },
});

const minerStop = defineMethod({
  name: "miner_stop",
  summary: "Lets chain time stand still.",
  result: DONE,
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  async handler(context) {
    await controlOf(context).time.pause();
    return null;
  },
});

const anvilGetAutomine = defineMethod({
  name: "anvil_getAutomine",
  aliases: ["hardhat_getAutomine", "eth_mining"],
  summary: "Whether chain time flows.",
  result: { name: "enabled", schema: anyBoolean },
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  handler(context) {
    controlOf(context);
    return context.chain.clock.isFlowing;
  },
});

const evmSetIntervalMining = defineMethod({
  name: "evm_setIntervalMining",
  aliases: ["anvil_setIntervalMining"],
  summary: "Sets how long a slot takes in real time; 0 lets chain time stand still.",
  params: { interval: required(secondsOfSlot, "Seconds of real time.") },
  result: DONE,
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: [0] },
  async handler(context, { interval }) {
    const { secondsPerSlot } = context.chain.clock;
    const { time } = controlOf(context);
    const speed = interval === 0 ? 0 : secondsPerSlot / interval;
    if (speed > MAX_SPEED) {
      throw invalidParams(`A slot cannot take ${interval} seconds: ${secondsPerSlot / MAX_SPEED} are the fewest.`);
    }
    await time.setSpeed(speed);
    return null;
  },
});

const anvilGetIntervalMining = defineMethod({
  name: "anvil_getIntervalMining",
  summary: "How many seconds a slot takes in real time; null while chain time stands still.",
  result: { name: "interval", schema: either(number, nothing) },
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  handler(context) {
    controlOf(context);
    const { isFlowing, secondsPerSlot, speed } = context.chain.clock;
    return isFlowing ? secondsPerSlot / speed : null;
  },
});

const anvilReorg = defineMethod({
  name: "anvil_reorg",
  summary: "Replaces the last blocks by another branch, as dev_reorg does.",
  params: { depth: required(blockCount, "How many blocks, at least one.") },
  // Anvil also takes transactions for the new blocks, of which there can be none here.
  normalizePositional: (params) => fromObject("depth")(isEmptyList(params[1]) ? params.slice(0, 1) : params),
  result: DONE,
  failures: ["rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: ["0x1"] },
  async handler(context, { depth }, call) {
    if (depth === 0) throw invalidParams("A reorganisation is of one block at least, and the depth is 0.");
    await controlOf(context).branches.reorg(depth, call?.signal);
    return null;
  },
});

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

const anvilDumpState = defineMethod({
  name: "anvil_dumpState",
  aliases: ["hardhat_dumpState"],
  summary: "The whole chain as dev_dump answers it.",
  result: { name: "state", schema: described(text, "A file in hexadecimal digits after 0x.") },
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  handler: async (context, _, call) => toHex(await controlOf(context).dumps.dump(call?.signal)),
});

const anvilLoadState = defineMethod({
  name: "anvil_loadState",
  aliases: ["hardhat_loadState"],
  summary: "Puts the chain that was dumped in the place of the one that there is, as dev_load does.",
  params: { state: required(hexDump, "What anvil_dumpState or dev_dump answered.") },
  result: { name: "loaded", schema: isTrue },
  failures: ["rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  takesLargeBody: true,
  example: { stage: "control", params: async (chain) => [await chain.dump()] },
  async handler(context, { state }, call) {
    await controlOf(context).dumps.load(fromHex(state), call?.signal);
    return true;
  },
});

const anvilNodeInfo = defineMethod({
  name: "anvil_nodeInfo",
  summary: "The head of the chain in the words of Anvil.",
  result: {
    name: "info",
    schema: object({
      currentBlockNumber: described(QUANTITY, "The slot of the head."),
      currentBlockTimestamp: described(number, "When that slot begins, in Unix seconds."),
      currentBlockHash: described(shape("Root"), "The root of the head."),
      hardFork: described(text, "The fork of the head."),
      environment: object({ chainId: described(number, "The id of the deposit contract's chain.") }),
    }),
  },
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  handler(context) {
    controlOf(context);
    const { head, clock, config } = context.chain;
    return {
      currentBlockNumber: quantity(head.slot),
      currentBlockTimestamp: clock.slotStartSeconds(head.slot),
      currentBlockHash: head.root,
      hardFork: config.getForkName(head.slot),
      environment: { chainId: config.DEPOSIT_CHAIN_ID },
    };
  },
});

/** How many slots a time is long. */
function slotsWithin({ secondsPerSlot }: Clock, seconds: number, how: "rounded-down" | "rounded-up"): number {
  const time = new SlotTime(0, secondsPerSlot);
  const slots = time.slotAt(seconds);
  return how === "rounded-up" && time.startOf(slots) < seconds ? slots + 1 : slots;
}

function slotThatBeginsAt(clock: Clock, seconds: number): Slot {
  const { genesisTime, secondsPerSlot, currentSlot } = clock;
  const slot = new SlotTime(genesisTime, secondsPerSlot).slotAt(seconds);
  if (slot <= currentSlot) {
    const next = clock.slotStartSeconds(currentSlot + 1);
    throw invalidParams(`No block can be at ${seconds} any more: the next slot begins at ${next}.`);
  }
  const start = clock.slotStartSeconds(slot);
  if (start === seconds) return slot;
  throw invalidParams(
    `No slot begins at ${seconds}: the nearest two begin at ${start} and ${clock.slotStartSeconds(slot + 1)}.`,
  );
}

function requireFew(slots: number): void {
  if (slots <= MOST_SLOTS) return;
  throw invalidParams(`One call goes through at most ${MOST_SLOTS} slots, and these would be ${slots}.`);
}

/** Whether a slot stays empty when every n-th of those to come is to have a block. */
function allButEvery(n: number): (slot: Slot) => boolean {
  let first: Slot | undefined;
  return (slot) => {
    first ??= slot;
    return (slot - first + 1) % n !== 0;
  };
}

/** Takes parameters that are given as the members of an object in their place. */
function fromObject(...names: string[]): (params: unknown[]) => unknown[] {
  return (params) => {
    const [options] = params;
    if (params.length !== 1 || typeof options !== "object" || options === null) return params;
    const given = options as Record<string, unknown>;
    return Object.keys(given).every((name) => names.includes(name)) ? names.map((name) => given[name] ?? null) : params;
  };
}

export const anvilNameMethods = [
  anvilNodeInfo,
  anvilMine,
  evmMine,
  evmIncreaseTime,
  evmSetNextBlockTimestamp,
  evmSetIntervalMining,
  anvilGetIntervalMining,
  evmSetAutomine,
  anvilGetAutomine,
  anvilReorg,
  anvilDumpState,
  anvilLoadState,
  minerStart,
  minerStop,
] as const;
