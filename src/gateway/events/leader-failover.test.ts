import { expect, it } from "vitest";
import {
  CHAIN_EVENT_TOPICS,
  chainOf,
  faultsOf,
  openMerger,
  type PublishedEvent,
} from "../../../test/support/gateway/events/event-merger.ts";
import {
  block,
  GENESIS,
  passUntil,
  reorgEvent,
  type ScriptedBlock,
  type StreamingUpstream,
} from "../../../test/support/gateway/events/streaming-upstream.ts";
import { seededRandom } from "../../../test/support/random/seeded-random.ts";

/** A node that moves from head to head and announces it. */
class Follower {
  readonly upstream: StreamingUpstream;
  head = GENESIS;

  constructor(upstream: StreamingUpstream) {
    this.upstream = upstream;
  }

  setTopics(head: ScriptedBlock): void {
    const own = new Set(chainOf(this.head));
    const branch = chainOf(head).filter((block) => !own.has(block));
    const ancestor = branch[0]?.parent;
    if (ancestor === undefined) return;
    for (const next of branch) {
      this.upstream.setHead(next);
      this.upstream.publishBlock(next);
      if (ancestor === this.head) this.upstream.tellHead(next);
    }
    if (ancestor !== this.head) {
      this.upstream.publish("chain_reorg", reorgEvent(this.head, head, ancestor));
      this.upstream.tellHead(head);
    }
    this.head = head;
  }
}

it.each([1, 2, 3, 4, 5, 6])(
  "publishes one consistent chain through forks, failures and delays (seed %i)",
  async (seed) => {
    const { upstreams, read, health, timers } = await openMerger("a", "b", "c");
    const reader = read(CHAIN_EVENT_TOPICS);
    const announced: PublishedEvent[] = [];
    const takeAll = async () => announced.push(...(await reader.take(reader.left)));
    const random = seededRandom(seed);
    const chance = (probability: number) => random() < probability;
    const followers = upstreams.map((upstream) => new Follower(upstream));
    const blocks = new Map<unknown, ScriptedBlock>([[GENESIS.root, GENESIS]]);
    const produce = (slot: number, mark: number) => {
      const [best] = followers
        .map(({ head }) => head)
        .sort((a, b) => (chance(0.2) ? a.slot - b.slot : b.slot - a.slot));
      const produced = block(slot, best, mark);
      blocks.set(produced.root, produced);
      return produced;
    };
    for (let slot = 1; slot <= 20; slot++) {
      const produced = [produce(slot, 0), ...(chance(0.2) ? [produce(slot, 1)] : [])];
      for (const follower of followers) {
        if (chance(0.1)) follower.upstream.breakOff();
        if (chance(0.1)) health.change(follower.upstream.name, { state: chance(0.5) ? "ready" : "behind" });
        if (chance(0.8)) follower.setTopics(produced[Math.floor(random() * produced.length)]!);
        if (chance(0.3)) await timers.advance(Math.floor(random() * 600));
      }
      if (chance(0.5)) await timers.advance(12_000);
      await takeAll();
    }
    for (const { name } of upstreams) health.change(name, { state: "ready" });
    const last = produce(21, 0);
    for (const follower of followers) follower.setTopics(last);
    await passUntil(timers, 100, () => upstreams.every(({ connections }) => connections === 1));
    const final = block(22, last);
    blocks.set(final.root, final);
    for (const follower of followers) follower.setTopics(final);
    while (announced.findLast(({ topic }) => topic === "head")?.value.block !== final.root) {
      await timers.advance(100);
      await takeAll();
    }
    expect(faultsOf(announced, blocks)).toEqual([]);
  },
);
