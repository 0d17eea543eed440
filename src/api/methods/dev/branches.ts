import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { defineMethod, optional } from "../../definition.ts";
import { BRANCHES, type Branch, type ChainBlock, controlOf } from "../../dev-control.ts";
import { integerUpTo, parseInteger, parseNumber } from "../../params/scalars.ts";
import { paramSchema } from "../../params/schema.ts";
import { described, number, object, shape } from "../../schemas.ts";
import { DEV_METHOD } from "./dev-method.ts";
import { position, positionOf } from "./time.ts";

const MAX_FORK_SLOTS = 1024;
const MAX_DEPTH = 65_536;

const depth = paramSchema(
  `a number of blocks from 1 to ${MAX_DEPTH}`,
  {
    anyOf: [
      { type: "string", pattern: "^[1-9][0-9]*$" },
      { type: "integer", minimum: 1 },
    ],
  },
  (value) => {
    const blocks = parseInteger(value, BigInt(MAX_DEPTH));
    return blocks === undefined || blocks === 0n ? undefined : Number(blocks);
  },
);

const slots = integerUpTo(BigInt(MAX_FORK_SLOTS), `a number of slots from 0 to ${MAX_FORK_SLOTS}`);
const slotsLate = integerUpTo(BigInt(SLOTS_PER_EPOCH), `a number of slots from 0 to ${SLOTS_PER_EPOCH}`);

const VOTES = { old: 0, new: 1, split: 0.5 } as const;

const newShare = paramSchema(
  '"old", "new", "split", or the fraction of votes for the new branch, a number from 0 to 1',
  {
    anyOf: [
      { type: "string", enum: Object.keys(VOTES) },
      { type: "number", minimum: 0, maximum: 1 },
    ],
  },
  (value) => {
    const share = parseNumber(value);
    if (share !== undefined) return share >= 0 && share <= 1 ? share : undefined;
    return Object.entries(VOTES).find(([name]) => name === value)?.[1];
  },
);

/** The range is validated by the chain. */
const seconds = paramSchema("a number of seconds of chain time", { type: "number", minimum: 0 }, parseNumber);

const BLOCK = object({ slot: shape("Uint64"), root: shape("Root") });
const blockJson = ({ slot, root }: ChainBlock) => ({ slot: String(slot), root });

const devReorg = defineMethod({
  ...DEV_METHOD,
  name: "dev_reorg",
  summary:
    "Reorganizes the chain: validators build on an ancestor of the head and vote for the new branch until it becomes the head.",
  params: { depth: optional(depth, "Number of blocks to replace. Default: 1.") },
  result: {
    name: "reorg",
    schema: object({
      old_head: BLOCK,
      new_head: BLOCK,
      common_ancestor: BLOCK,
      slots: described(shape("Uint64"), "Number of slots that it took."),
      position: position.schema,
    }),
  },
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: [1] },
  async handler(context, { depth = 1 }, call) {
    const { oldHead, newHead, commonAncestor, slots } = await controlOf(context).branches.reorg(depth, call?.signal);
    return {
      old_head: blockJson(oldHead),
      new_head: blockJson(newHead),
      common_ancestor: blockJson(commonAncestor),
      slots: String(slots),
      position: positionOf(context),
    };
  },
});

const BRANCH = object({
  head: BLOCK,
  weight: described(
    shape("Uint64"),
    "Fork choice weight of the branch in Gwei: votes, which count from the next slot on, and proposer boost.",
  ),
});
const branchJson = ({ head, weight }: Branch) => ({ head: blockJson(head), weight: String(weight) });

const devFork = defineMethod({
  ...DEV_METHOD,
  name: "dev_fork",
  summary:
    "Grows two branches, extending the shorter one in each slot. Without a depth it continues the branches of the previous call, if both are still viable. Afterwards all validators follow the head again.",
  params: {
    depth: optional(
      depth,
      "Blocks before the head at which a new branch starts. Default: 1, if there are no branches to continue.",
    ),
    slots: optional(slots, "Number of slots. Default: 2."),
    votes: optional(
      newShare,
      'Branch that validators vote for. Default: "split", every second one for the new branch.',
    ),
  },
  result: {
    name: "fork",
    schema: object({
      old_branch: BRANCH,
      new_branch: BRANCH,
      common_ancestor: BLOCK,
      head: described({ type: "string", enum: [...BRANCHES] }, "Branch of the head."),
      position: position.schema,
    }),
  },
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: [1, 2] },
  async handler(context, { depth, slots = 2, votes = VOTES.split }, call) {
    const { branches } = controlOf(context);
    const fork = await branches.fork({ depth, slots, newShare: votes, signal: call?.signal });
    return {
      old_branch: branchJson(fork.branches.old),
      new_branch: branchJson(fork.branches.new),
      common_ancestor: blockJson(fork.commonAncestor),
      head: fork.head,
      position: positionOf(context),
    };
  },
});

const devDelayBlocks = defineMethod({
  ...DEV_METHOD,
  name: "dev_delayBlocks",
  summary:
    "Delays the blocks of the next slots beyond the attestation deadline, so that they get no proposer boost and no votes in the slot of their arrival.",
  params: {
    slots: optional(slots, "Number of slots, from the next one on. Default: 1. 0 ends a delay."),
    seconds: optional(
      seconds,
      "Seconds into the slot of arrival. Default: halfway between the attestation deadline and the end of the slot.",
    ),
    slotsLate: optional(
      slotsLate,
      "Number of slots by which a block is late. Default: 0. Proposers in between do not know the block.",
    ),
  },
  result: {
    name: "delay",
    schema: object({
      from_slot: shape("Uint64"),
      until_slot: described(shape("Uint64"), "First slot whose block is on time again."),
      seconds: number,
      slots_late: shape("Uint64"),
    }),
  },
  example: { stage: "control", params: [1] },
  async handler(context, { slots = 1, seconds, slotsLate = 0 }) {
    const delay = await controlOf(context).lateBlocks.delay({ slots, seconds, slotsLate });
    return {
      from_slot: String(delay.fromSlot),
      until_slot: String(delay.untilSlot),
      seconds: delay.seconds,
      slots_late: String(delay.slotsLate),
    };
  },
});

export const devBranchMethods = [devReorg, devFork, devDelayBlocks] as const;
