import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { defineMethod, optional } from "../../definition.ts";
import { BRANCHES, type Branch, type ChainBlock, controlOf } from "../../dev-control.ts";
import { integerUpTo, parseInteger, parseNumber } from "../../params/scalars.ts";
import { paramSchema } from "../../params/schema.ts";
import { described, number, object, shape } from "../../schemas.ts";
import { position, positionOf } from "./time.ts";

const MOST_SLOTS = 1024;
const MOST_BLOCKS = 65_536;

const depth = paramSchema(
  `a number of blocks from 1 to ${MOST_BLOCKS}`,
  {
    anyOf: [
      { type: "string", pattern: "^[1-9][0-9]*$" },
      { type: "integer", minimum: 1 },
    ],
  },
  (value) => {
    const blocks = parseInteger(value, BigInt(MOST_BLOCKS));
    return blocks === undefined || blocks === 0n ? undefined : Number(blocks);
  },
);

const slots = integerUpTo(BigInt(MOST_SLOTS), `a number of slots from 0 to ${MOST_SLOTS}`);
const slotsLate = integerUpTo(BigInt(SLOTS_PER_EPOCH), `a number of slots from 0 to ${SLOTS_PER_EPOCH}`);

const VOTES = { old: 0, new: 1, split: 0.5 } as const;

const newShare = paramSchema(
  '"old", "new", "split", or the fraction of the votes that the new branch gets, a number from 0 to 1',
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

/** Which of them are late, the chain knows. */
const seconds = paramSchema("a number of seconds of chain time", { type: "number", minimum: 0 }, parseNumber);

const BLOCK = object({ slot: shape("Uint64"), root: shape("Root") });
const blockJson = ({ slot, root }: ChainBlock) => ({ slot: String(slot), root });

const devReorg = defineMethod({
  name: "dev_reorg",
  summary:
    "Replaces the last blocks by another branch, slot by slot: validators build on the block before them and vote for what they built, until fork choice follows.",
  params: { depth: optional(depth, "How many blocks; by default one.") },
  result: {
    name: "reorg",
    schema: object({
      old_head: BLOCK,
      new_head: BLOCK,
      common_ancestor: BLOCK,
      slots: described(shape("Uint64"), "How many it took."),
      position: position.schema,
    }),
  },
  failures: ["rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
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
    "What fork choice counts for the branch, in Gwei: votes, each from the slot after its own on, and the proposer boost.",
  ),
});
const branchJson = ({ head, weight }: Branch) => ({ head: blockJson(head), weight: String(weight) });

const devFork = defineMethod({
  name: "dev_fork",
  summary:
    "Lets two branches grow side by side, slot by slot the shorter one. Without a depth those of the call before go on, while fork choice can still choose either. Afterwards all follow the head again.",
  params: {
    depth: optional(
      depth,
      "How many blocks before the head a new branch begins; by default one, if there are no two yet.",
    ),
    slots: optional(slots, "How many slots; by default two."),
    votes: optional(
      newShare,
      'Which branch validators vote for; by default "split", every second one for the new branch.',
    ),
  },
  result: {
    name: "fork",
    schema: object({
      old_branch: BRANCH,
      new_branch: BRANCH,
      common_ancestor: BLOCK,
      head: described({ type: "string", enum: [...BRANCHES] }, "The branch of the head."),
      position: position.schema,
    }),
  },
  failures: ["rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
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
  name: "dev_delayBlocks",
  summary:
    "Lets the blocks of the next slots come after attesting was due: without proposer boost, and without a vote in the slot in which they come.",
  params: {
    slots: optional(slots, "Of how many slots, from the next one on; by default one. 0 ends a delay."),
    seconds: optional(
      seconds,
      "How long after the beginning of a slot; by default halfway between when attesting is due and the end of the slot.",
    ),
    slotsLate: optional(
      slotsLate,
      "How many slots after its own a block comes; by default 0. The next proposers do not know of it until then.",
    ),
  },
  result: {
    name: "delay",
    schema: object({
      from_slot: shape("Uint64"),
      until_slot: described(shape("Uint64"), "The first slot whose block is not late any more."),
      seconds: number,
      slots_late: shape("Uint64"),
    }),
  },
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
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
