import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import type { ReorgEvent } from "../../src/chain/events.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../../src/chain/settings.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { Caller } from "../support/api/caller.ts";
import { openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const VALIDATORS = 64;
const COMMITTEE = VALIDATORS / SLOTS_PER_EPOCH;
const GWEI_OF_A_VOTE = 32_000_000_000;
/** PROPOSER_SCORE_BOOST of a committee. */
const BOOST = 0.4 * COMMITTEE * GWEI_OF_A_VOTE;
const OPTIONS = {
  forks: [{ fork: "fulu" as const, epoch: 0 }],
  validators: VALIDATORS,
  genesisTime: 1_700_000_000,
};

async function open(options: Partial<DevNodeOptions> = {}, directory?: string) {
  const opened = await openDevChain({ ...OPTIONS, speed: 0, ...options }, directory);
  const { chain, api } = opened.devChain;
  const reorgs: ReorgEvent[] = [];
  chain.events.on("reorg", (reorg) => reorgs.push(reorg));
  return { ...opened, chain, reorgs, caller: new Caller(api) };
}

const chainOf = ({ forkChoice, head }: BeaconChain): RootHex[] =>
  Array.from(forkChoice.ancestors(head.root), ({ root }) => root);

/** All blocks in fork choice, parents before children. */
async function allBlocks({ forkChoice, blocks }: BeaconChain): Promise<SignedBeaconBlock[]> {
  const found = await Promise.all(Array.from(forkChoice.all(), ({ root }) => blocks.signedByRoot(root)));
  return found.filter((block) => block !== null);
}

describe("dev_reorg", () => {
  it("replaces the last block, three blocks, and blocks across an epoch boundary", async () => {
    const { caller, chain, reorgs, complaints } = await open();
    const wheres = [
      { until: { slot: 3 }, depth: 1 },
      { until: { slot: 8 }, depth: 3 },
      { until: { slot: 25 }, depth: 5 },
      { until: { slot: 47 }, depth: 2 },
    ];
    for (const { until, depth } of wheres) {
      await caller.call("dev_advance", { until });
      const before = chainOf(chain);
      const slotBefore = chain.clock.currentSlot;
      reorgs.length = 0;
      const reorg = await caller.call("dev_reorg", [depth]);
      expect(reorg.old_head.root).toBe(before[0]);
      expect(reorg.common_ancestor.root).toBe(before[depth]);
      expect(reorg.new_head).toEqual({ slot: String(chain.head.slot), root: chain.head.root });
      expect(chain.clock.currentSlot).toBe(slotBefore + Number(reorg.slots));
      expect(reorg.position).toMatchObject({ slot: String(chain.clock.currentSlot), head_block_root: chain.head.root });
      const after = chainOf(chain);
      expect(after.filter((root) => before.includes(root))[0]).toBe(before[depth]);
      expect(reorgs).toMatchObject([{ oldHead: before[0] }]);
      expect(after).toContain(reorgs[0]!.newHead);
      // All validators continue on the new branch.
      await caller.call("dev_advance", [2]);
      expect(chainOf(chain).slice(2)).toEqual(after);
    }
    await caller.call("dev_advance", { until: "finalized", limit: 4 * SLOTS_PER_EPOCH });
    expect(complaints).toEqual([]);
  });

  it("orphans a block whose payload stays verified after finality and after a restart", async () => {
    const directory = tempDirectory();
    const { caller, chain, close } = await open({}, directory);
    await caller.call("dev_advance", [3]);
    const { old_head: left } = await caller.call("dev_reorg", [2]);
    expect(await chain.blocks.positionOf(left.root)).toMatchObject({ canonical: false, executionOptimistic: false });
    await caller.call("dev_advance", { until: "finalized", limit: 5 * SLOTS_PER_EPOCH });
    await chain.store();
    expect(chain.forkChoice.has(left.root)).toBe(false);
    expect(await chain.blocks.positionOf(left.root)).toMatchObject({ canonical: false, executionOptimistic: false });
    await close();
    const again = await open({}, directory);
    expect(await again.chain.blocks.positionOf(left.root)).toMatchObject({ executionOptimistic: false });
  });

  it("rejects a depth beyond the justified block, with the maximum depth", async () => {
    const { caller, chain, reorgs, complaints } = await open();
    const only = await caller.error("dev_reorg");
    expect(only.message).toBe("The last block cannot be replaced: the head is the justified block.");
    await caller.call("dev_advance", [36]);
    const before = await caller.call("dev_advance", [0]);
    expect(await caller.error("dev_reorg", [30])).toMatchObject({
      code: -32003,
      message: "The last 30 blocks cannot be replaced: only 12 follow the justified block.",
    });
    expect(await caller.error("dev_fork", { depth: 13 })).toMatchObject({ code: -32003 });
    for (const [params, message] of [
      [[0], /"depth" must be a number of blocks from 1 to 65536/],
      [["one"], /"depth" must be/],
      [[1.5], /"depth" must be/],
    ] as const) {
      const error = await caller.error("dev_reorg", [...params]);
      expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
    }
    expect(await caller.call("dev_advance", [0])).toEqual(before);
    expect(reorgs).toEqual([]);

    const deepest = await caller.call("dev_reorg", [12]);
    expect(deepest.common_ancestor.root).toBe(chain.forkChoice.justified.root);
    await caller.call("dev_advance", { until: "finalized", limit: 5 * SLOTS_PER_EPOCH });
    expect(complaints).toEqual([]);
  });

  it("fails if too few validators are online to outvote the others", async () => {
    const { caller, chain } = await open();
    await caller.call("dev_advance", { until: "finalized" });
    await caller.call("dev_advance", [3]);
    const [head] = chainOf(chain);
    await caller.call("dev_setValidators", { online: 0.1 });
    expect(await caller.error("dev_reorg", [3])).toMatchObject({
      code: -32003,
      message: expect.stringMatching(/did not become the head by slot \d+: too few/),
    });
    expect(chainOf(chain)).toContain(head);
  });

  it("gives the same head to a node that imports the blocks", async () => {
    const { caller, chain } = await open();
    await caller.call("dev_advance", [5]);
    // Vote listeners do not change the result.
    chain.events.on("attestation", () => {});
    await caller.call("dev_reorg", [2]);
    await caller.call("dev_fork", { depth: 2, slots: 4 });
    await caller.call("dev_advance", [4]);
    const follower = await openDevChain({ ...OPTIONS, ...QUIET });
    const other = follower.devChain.chain;
    for (const block of await allBlocks(chain)) {
      await follower.devChain.clock.advanceTo(Math.max(block.message.slot, follower.devChain.clock.currentSlot));
      if (block.message.slot > 0) await other.importBlock(block);
    }
    expect(other.head.root).toBe(chain.head.root);
    expect([...other.forkChoice.all()].length).toBe([...chain.forkChoice.all()].length);
  });
});

describe("dev_fork", () => {
  it("grows two branches alternately, whose votes decide, and lets the other win when continued", async () => {
    const { caller, chain, reorgs, complaints } = await open();
    await caller.call("dev_advance", [10]);
    const before = chainOf(chain);
    const fork = await caller.call("dev_fork", { depth: 2, slots: 4, votes: "old" });
    expect(fork).toMatchObject({ head: "old", common_ancestor: { root: before[2] }, position: { slot: "14" } });
    expect([fork.new_branch.head.slot, fork.old_branch.head.slot]).toEqual(["13", "14"]);
    // The first two blocks have the votes of their slots. Of the four committees since, the last one does not count
    // yet.
    expect(fork.old_branch.weight).toBe(String((2 + 3) * COMMITTEE * GWEI_OF_A_VOTE + BOOST));
    expect(fork.new_branch.weight).toBe("0");
    expect(chain.head.root).toBe(fork.old_branch.head.root);
    expect(chain.forkChoice.isDescendant(before[0]!, chain.head.root)).toBe(true);

    const turned = await caller.call("dev_fork", { slots: 8, votes: "new" });
    expect(turned).toMatchObject({ head: "new", common_ancestor: fork.common_ancestor });
    expect(chain.forkChoice.isDescendant(fork.new_branch.head.root, turned.new_branch.head.root)).toBe(true);
    expect(chain.forkChoice.isDescendant(fork.old_branch.head.root, turned.old_branch.head.root)).toBe(true);
    expect(Number(turned.new_branch.weight)).toBeGreaterThan(Number(turned.old_branch.weight));
    expect(reorgs.length).toBe(1);
    const after = chainOf(chain);
    await caller.call("dev_advance", [3]);
    expect(chainOf(chain).slice(3)).toEqual(after);
    // Once justification has decided against the other branch, the next fork is a new one.
    await caller.call("dev_advance", { until: "finalized" });
    const head = chain.head.root;
    const next = await caller.call("dev_fork", { votes: "new" });
    expect(next.common_ancestor.root).toBe(chain.forkChoice.get(head)?.parentRoot);
    expect(complaints).toEqual([]);
  });

  it("begins the new branch at the common ancestor also if its first slots stayed empty", async () => {
    const { caller, chain } = await open();
    await caller.call("dev_advance", [10]);
    const [old, ancestor] = chainOf(chain);
    await caller.call("dev_setValidators", { online: "none" });
    const empty = await caller.call("dev_fork", { slots: 2 });
    expect([empty.new_branch.head.root, empty.old_branch.head.root]).toEqual([ancestor, old]);
    await caller.call("dev_setValidators", { online: "all" });
    const fork = await caller.call("dev_fork", { slots: 2 });
    expect(fork.common_ancestor.root).toBe(ancestor);
    const parents = [fork.new_branch, fork.old_branch].map(({ head }) => chain.forkChoice.get(head.root)?.parentRoot);
    expect(parents).toEqual([ancestor, old]);
  });

  it("splits the votes in halves or by a fraction", async () => {
    const { caller, complaints } = await open();
    await caller.call("dev_advance", [1]);
    const votesOf = ({ weight }: { weight: string }, hasBoost: boolean) =>
      (Number(weight) - (hasBoost ? BOOST : 0)) / GWEI_OF_A_VOTE;
    // Of the committees of the slots 2 to 6; that of slot 1 voted for its block.
    const half = await caller.call("dev_fork", { slots: 6 });
    const [toOld, toNew] = [votesOf(half.old_branch, true), votesOf(half.new_branch, false)];
    expect(toOld + toNew).toBe(6 * COMMITTEE);
    expect(Math.abs(toNew - toOld)).toBeLessThan(3 * COMMITTEE);
    const most = await caller.call("dev_fork", { slots: 16, votes: 0.75 });
    // All validators have voted since, and a branch with another proposer dependent root than the head's gets no boost.
    expect(votesOf(most.new_branch, false)).toBe(0.75 * VALIDATORS);
    expect(votesOf(most.old_branch, false)).toBe(0.25 * VALIDATORS);
    expect(most.head).toBe("new");
    for (const votes of ["both", -0.1, 1.1]) {
      expect(await caller.error("dev_fork", { votes })).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/"votes" must be "old", "new", "split", or the fraction/),
      });
    }
    expect(complaints).toEqual([]);
  });

  it("is rejected, like all time control, on a chain that runs in real time", async () => {
    const { caller } = await open({ eth1: ["http://127.0.0.1:1"], speed: 1 });
    for (const method of ["dev_reorg", "dev_fork", "dev_dump"]) {
      expect(await caller.error(method)).toMatchObject({
        message: expect.stringMatching(/^Time control is unavailable with --/),
      });
    }
    expect((await caller.call("dev_setValidators", { online: "0-9" })).online).toHaveLength(10);
  });
});

describe("dev_delayBlocks", () => {
  it("delays blocks past the attestation deadline: without boost, and the slot's votes go to the parent", async () => {
    const { caller, chain, complaints } = await open({ chain: { ...DEFAULT_CHAIN_SETTINGS, proposerReorgs: false } });
    await caller.call("dev_advance", [2]);
    const parent = chain.head.root;
    expect(await caller.call("dev_delayBlocks", { slots: 1, seconds: 1.5 })).toEqual({
      from_slot: "3",
      until_slot: "4",
      seconds: 1.5,
      slots_late: "0",
    });
    await caller.call("dev_advance");
    expect(chain.head).toMatchObject({ slot: 3, parentRoot: parent });
    expect(chain.clock.nowSeconds() - chain.clock.slotStartSeconds(3)).toBeCloseTo(1.5);
    expect(chain.forkChoice.proposerBoostRoot).toBeNull();
    const late = chain.head.root;
    await caller.call("dev_advance");
    // Its only weight is that of its descendants.
    expect(chain.head).toMatchObject({ slot: 4, parentRoot: late });
    expect(chain.forkChoice.proposerBoostRoot).toBe(chain.head.root);
    expect(chain.forkChoice.weightOf(late) * 1_000_000_000).toBe(BOOST);
    expect(complaints).toEqual([]);
  });

  it.each(["without the API", "as clients of the API"])(
    "makes the next proposer orphan a late block, %s",
    async (way) => {
      const { caller, chain, reorgs, complaints } = await open();
      if (way === "as clients of the API") chain.events.on("attestation", () => {});
      await caller.call("dev_advance", [2]);
      const parent = chain.head.root;
      await caller.call("dev_delayBlocks", { slots: 1, seconds: 1.5 });
      await caller.call("dev_advance");
      expect(chain.head).toMatchObject({ slot: 3, parentRoot: parent });
      await caller.call("dev_advance");
      expect(chain.head).toMatchObject({ slot: 4, parentRoot: parent });
      expect(reorgs).toHaveLength(1);
      expect(complaints).toEqual([]);
    },
  );

  it("delays blocks by slots, so that they lose to blocks built meanwhile", async () => {
    const { caller, chain, reorgs, complaints } = await open();
    await caller.call("dev_advance", [2]);
    const parent = chain.head.root;
    await caller.call("dev_delayBlocks", { slots_late: 1 });
    await caller.call("dev_advance");
    expect(chain.head.root).toBe(parent);
    await caller.call("dev_advance", [2]);
    const [late] = chain.forkChoice.blocksAtSlot(3);
    expect(late?.parentRoot).toBe(parent);
    expect(chainOf(chain)).not.toContain(late!.root);
    expect(chain.forkChoice.canonicalAtSlot(4)).toMatchObject({ slot: 4, parentRoot: parent });
    expect(reorgs).toEqual([]);
    // With vote listeners, validators act as API clients.
    chain.events.on("attestation", () => {});
    await caller.call("dev_delayBlocks", { slots_late: 1, slots: 2 });
    await caller.call("dev_advance", [4]);
    expect(chain.forkChoice.blocksAtSlot(6).concat(chain.forkChoice.blocksAtSlot(7))).toHaveLength(2);
    expect(complaints).toEqual([]);
  });

  it("works while the clock runs, can be cancelled, and rejects invalid values", async () => {
    const { caller, chain, devChain, complaints } = await open({ speed: 4, slotSeconds: 6 });
    await devChain.run();
    await caller.call("dev_pause");
    for (const seconds of [1, 6]) {
      expect(await caller.error("dev_delayBlocks", { seconds })).toMatchObject({
        code: -32602,
        message: expect.stringMatching(
          /^"seconds" must be from 2 \(attestation deadline\) to 5\.94 \(end of the slot\), got /,
        ),
      });
    }
    expect(await caller.error("dev_delayBlocks", { slots_late: 9 })).toMatchObject({ code: -32602 });
    await caller.call("dev_delayBlocks", { slots: 3 });
    await caller.call("dev_delayBlocks", { slots: 0 });
    await caller.call("dev_advance");
    expect(chain.forkChoice.proposerBoostRoot).toBe(chain.head.root);
    await caller.call("dev_delayBlocks", { slots: 1 });
    const { promise, resolve } = Promise.withResolvers<number>();
    chain.events.on("block", ({ slot }) => {
      if (slot === 2) resolve(chain.clock.nowSeconds() - chain.clock.slotStartSeconds(2));
    });
    await caller.call("dev_resume");
    expect(await promise).toBeGreaterThan(3.9);
    await caller.call("dev_pause");
    expect(complaints).toEqual([]);
  });
});
