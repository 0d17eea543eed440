import { expect, it } from "vitest";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { merge, STORY, type ToldEvent } from "./merged.test-support.ts";
import {
  block,
  GENESIS,
  passUntil,
  reorgEvent,
  type ScriptedBlock,
  type ScriptedUpstream,
} from "./scripted-upstream.test-support.ts";

/** A node that goes from head to head, and tells of it as nodes do. */
class Follower {
  readonly upstream: ScriptedUpstream;
  head = GENESIS;

  constructor(upstream: ScriptedUpstream) {
    this.upstream = upstream;
  }

  follow(head: ScriptedBlock): void {
    const own = new Set(chainOf(this.head));
    const branch = chainOf(head).filter((block) => !own.has(block));
    const ancestor = branch[0]?.parent;
    if (ancestor === undefined) return;
    for (const next of branch) {
      this.upstream.setHead(next);
      this.upstream.tellBlock(next);
      if (ancestor === this.head) this.upstream.tellHead(next);
    }
    if (ancestor !== this.head) {
      this.upstream.tell("chain_reorg", reorgEvent(this.head, head, ancestor));
      this.upstream.tellHead(head);
    }
    this.head = head;
  }
}

/** From the genesis block on. */
function chainOf(head: ScriptedBlock): ScriptedBlock[] {
  return head.parent ? [...chainOf(head.parent), head] : [head];
}

/** What is wrong with a story, of which every head follows on the one before or on a reorganisation. */
function faultsOf(told: readonly ToldEvent[], blocks: ReadonlyMap<unknown, ScriptedBlock>): string[] {
  const faults: string[] = [];
  const seen = new Set<unknown>();
  let head = GENESIS.root;
  let reorganised: unknown;
  for (const { topic, value } of told) {
    if (topic === "block") {
      if (seen.has(value.block)) faults.push(`The block of slot ${value.slot} was told twice.`);
      seen.add(value.block);
    } else if (topic === "chain_reorg") {
      if (value.old_head_block !== head)
        faults.push(`A reorganisation to slot ${value.slot} does not begin at the head.`);
      reorganised = value.new_head_block;
    } else {
      const { root, parent } = blocks.get(value.block)!;
      if (parent?.root !== head && reorganised !== root)
        faults.push(`The head of slot ${value.slot} does not follow on the one before.`);
      head = root;
    }
  }
  for (const { root, slot } of chainOf(blocks.get(head)!).slice(1)) {
    if (!seen.has(root)) faults.push(`The block of slot ${slot} was not told.`);
  }
  return faults;
}

it.each([1, 2, 3, 4, 5, 6])("tells one story, whoever forks, fails, is late or comes back (seed %i)", async (seed) => {
  const { upstreams, read, conditions, timers } = await merge("a", "b", "c");
  const reader = read(STORY);
  const told: ToldEvent[] = [];
  const takeAll = async () => told.push(...(await reader.take(reader.left)));
  const random = seededRandom(seed);
  const chance = (probability: number) => random() < probability;
  const followers = upstreams.map((upstream) => new Follower(upstream));
  const blocks = new Map<unknown, ScriptedBlock>([[GENESIS.root, GENESIS]]);
  const produce = (slot: number, mark: number) => {
    const [best] = followers.map(({ head }) => head).sort((a, b) => (chance(0.2) ? a.slot - b.slot : b.slot - a.slot));
    const made = block(slot, best, mark);
    blocks.set(made.root, made);
    return made;
  };
  for (let slot = 1; slot <= 20; slot++) {
    const made = [produce(slot, 0), ...(chance(0.2) ? [produce(slot, 1)] : [])];
    for (const follower of followers) {
      if (chance(0.1)) follower.upstream.breakOff();
      if (chance(0.1)) conditions.set(follower.upstream.name, { fitness: chance(0.5) ? "ready" : "behind" });
      if (chance(0.8)) follower.follow(made[Math.floor(random() * made.length)]!);
      if (chance(0.3)) await timers.advance(Math.floor(random() * 600));
    }
    if (chance(0.5)) await timers.advance(12_000);
    await takeAll();
  }
  for (const { name } of upstreams) conditions.set(name, { fitness: "ready" });
  const last = produce(21, 0);
  for (const follower of followers) follower.follow(last);
  await passUntil(timers, 100, () => upstreams.every(({ connections }) => connections === 1));
  const final = block(22, last);
  blocks.set(final.root, final);
  for (const follower of followers) follower.follow(final);
  while (told.findLast(({ topic }) => topic === "head")?.value.block !== final.root) {
    await timers.advance(100);
    await takeAll();
  }
  expect(faultsOf(told, blocks)).toEqual([]);
});
