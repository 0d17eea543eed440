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
  SLOTS_PER_EPOCH,
  type StreamingUpstream,
  stateRootOf,
} from "../../../test/support/gateway/events/streaming-upstream.ts";
import { seededRandom } from "../../../test/support/random/seeded-random.ts";

/** Creates a chain with a block per slot. */
function chain(slots: number, parent = GENESIS, mark = 0): ScriptedBlock[] {
  const blocks: ScriptedBlock[] = [];
  for (let slot = parent.slot + 1; blocks.length < slots; slot++) {
    blocks.push(block(slot, blocks.at(-1) ?? parent, mark));
  }
  return blocks;
}

const described = ({ topic, value }: PublishedEvent) => `${topic} ${value.slot ?? value.epoch ?? ""}`;

const finalized = (epoch: number) => ({
  block: GENESIS.root,
  state: stateRootOf(GENESIS),
  epoch: String(epoch),
  execution_optimistic: false,
});

it("publishes a block whose event was sent while the streams were cut, although its head event arrives", async () => {
  const { upstreams, read, reconnect } = await openMerger("a", "b");
  const announced = read(CHAIN_EVENT_TOPICS);
  const [first, second, third] = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
  for (const upstream of upstreams) upstream.imports(first);
  expect((await announced.take(2)).map(described)).toEqual(["block 1", "head 1"]);
  // The block is imported, but is not the head yet.
  for (const upstream of upstreams) {
    upstream.addBlocks(second);
    await reconnect(upstream);
  }
  for (const upstream of upstreams) {
    upstream.setHead(second);
    upstream.tellHead(second);
    upstream.imports(third);
  }
  expect((await announced.take(4)).map(described)).toEqual(["block 2", "head 2", "block 3", "head 3"]);
});

it("publishes blocks of a branch that were imported while the streams were cut, when the chain reorgs to it", async () => {
  const { upstreams, read, reconnect } = await openMerger("a", "b");
  const announced = read(CHAIN_EVENT_TOPICS);
  const [first, second, third] = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
  const [side, sideHead] = chain(2, second, 1) as [ScriptedBlock, ScriptedBlock];
  for (const upstream of upstreams) for (const each of [first, second]) upstream.imports(each);
  await announced.take(4);
  for (const upstream of upstreams) {
    upstream.addBlocks(side);
    await reconnect(upstream);
    upstream.imports(third);
  }
  expect((await announced.take(2)).map(described)).toEqual(["block 3", "head 3"]);
  for (const upstream of upstreams) {
    upstream.setHead(sideHead);
    upstream.publish("chain_reorg", reorgEvent(third, sideHead, second));
    upstream.tellHead(sideHead);
  }
  const events = await announced.take(4);
  expect(events.map(described)).toEqual(["block 3", "block 4", "chain_reorg 4", "head 4"]);
  expect(events[0]!.value.block).toBe(side.root);
});

it.each(["404", "500", "closed connections"])("keeps the events of a gap while requests end in %s", async (how) => {
  const { upstreams, read, timers, reconnect } = await openMerger("a", "b");
  const announced = read(CHAIN_EVENT_TOPICS);
  const blocks = chain(5) as [ScriptedBlock, ...ScriptedBlock[]];
  for (const upstream of upstreams) upstream.imports(blocks[0]);
  await announced.take(2);
  for (const upstream of upstreams) {
    upstream.setHead(blocks[3]!);
    await reconnect(upstream);
    upstream.isAnswering = how !== "closed connections";
    upstream.disturb = () => (how === "closed connections" ? undefined : Number(how));
  }
  await timers.advance(8000);
  for (const upstream of upstreams) {
    upstream.isAnswering = true;
    upstream.disturb = () => undefined;
    upstream.imports(blocks[4]!);
  }
  await passUntil(timers, 100, () => announced.left === 8);
  const expected = [2, 3, 4, 5].flatMap((slot) => [`block ${slot}`, `head ${slot}`]);
  expect((await announced.take(8)).map(described)).toEqual(expected);
});

it("publishes finality that was announced while the streams were cut", async () => {
  const { upstreams, read, timers, health, reconnect } = await openMerger("a", "b");
  const announced = read(CHAIN_EVENT_TOPICS);
  const [first] = chain(1) as [ScriptedBlock];
  for (const upstream of upstreams) upstream.imports(first);
  await announced.take(2);
  for (const upstream of upstreams) {
    upstream.finalized = { epoch: 1, root: GENESIS.root };
    health.change(upstream.name, { finalized: upstream.finalized });
    await reconnect(upstream);
  }
  await passUntil(timers, 100, () => announced.left === 1);
  expect(await announced.next()).toMatchObject({ topic: "finalized_checkpoint", value: { epoch: "1" } });
  for (const upstream of upstreams) upstream.publish("finalized_checkpoint", finalized(2));
  expect(await announced.next()).toMatchObject({ topic: "finalized_checkpoint", value: { epoch: "2" } });
});

it("fills the gap from another upstream if the leader does not have the blocks", async () => {
  const { upstreams, read, reconnect } = await openMerger("a", "b");
  const [a, b] = upstreams as [StreamingUpstream, StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const [first, second, third] = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
  for (const upstream of upstreams) upstream.imports(first);
  await announced.take(2);
  for (const upstream of upstreams) upstream.setHead(third);
  a.disturb = (path) => (path.endsWith(second.root) ? 404 : undefined);
  await reconnect(b);
  await reconnect(a);
  expect((await announced.take(4)).map(described)).toEqual(["block 2", "head 2", "block 3", "head 3"]);
});

it.each(["its own", "the requested"])(
  "does not fill a gap with another block that comes under %s root",
  async (claimed) => {
    const { upstreams, read, reconnect } = await openMerger("a", "b");
    const [a, b] = upstreams as [StreamingUpstream, StreamingUpstream];
    const announced = read(CHAIN_EVENT_TOPICS);
    const [first, second, third] = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
    for (const upstream of upstreams) upstream.imports(first);
    await announced.take(2);
    for (const upstream of upstreams) upstream.setHead(third);
    const truth = a.answerTo.bind(a);
    const other = block(2, first, 1);
    a.addBlocks(other);
    const lie = truth(`/eth/v1/beacon/headers/${other.root}`) as { data: { root: string } };
    if (claimed === "the requested") lie.data.root = second.root;
    a.answerTo = (path) => (path.endsWith(second.root) ? lie : truth(path));
    await reconnect(b);
    await reconnect(a);
    const events = await announced.take(4);
    const expected = [second, third].flatMap((each) => [each.root, stateRootOf(each)]);
    expect(events.map(({ value }) => value.state ?? value.block)).toEqual(expected);
  },
);

/** A node that imports and announces blocks in several steps, between which its stream can be cut. */
class SteppingNode {
  readonly upstream: StreamingUpstream;
  readonly #steps: (() => void)[] = [];
  #head = GENESIS;

  constructor(upstream: StreamingUpstream) {
    this.upstream = upstream;
  }

  get hasSteps(): boolean {
    return this.#steps.length > 0;
  }

  step(): void {
    this.#steps.shift()?.();
  }

  /** Schedules the import of a block. */
  imports(imported: ScriptedBlock): void {
    this.#steps.push(
      () => this.upstream.addBlocks(imported),
      () => this.upstream.publishBlock(imported),
    );
  }

  /** Schedules that an imported block becomes the head. */
  follows(head: ScriptedBlock, finalized?: { epoch: number; root: string }): void {
    const old = this.#head;
    this.#head = head;
    if (head !== old) this.#moveTo(head, old);
    if (!finalized) return;
    const { epoch, root: checkpoint } = finalized;
    const event = { block: checkpoint, state: checkpoint, epoch: String(epoch), execution_optimistic: false };
    this.#steps.push(
      () => {
        this.upstream.finalized = finalized;
      },
      () => this.upstream.publish("finalized_checkpoint", event),
    );
  }

  #moveTo(head: ScriptedBlock, old: ScriptedBlock): void {
    this.#steps.push(() => this.upstream.setHead(head));
    const own = new Set(chainOf(old));
    const ancestor = chainOf(head).findLast((each) => own.has(each))!;
    if (ancestor !== old) {
      this.#steps.push(() => this.upstream.publish("chain_reorg", reorgEvent(old, head, ancestor)));
    }
    this.#steps.push(() => this.upstream.tellHead(head));
  }
}

const SLOTS = 32;
/** Number of slots after which an epoch is finalized. */
const FINALITY_SLOTS = 16;
const LAST_FINALIZED = String((SLOTS - FINALITY_SLOTS) / SLOTS_PER_EPOCH);

it.each([1, 24, 45, 46])(
  "publishes every canonical block once when both streams are cut all the time (seed %i)",
  async (seed) => {
    const { upstreams, read, timers, logger, health } = await openMerger("a", "b");
    const reader = read(CHAIN_EVENT_TOPICS);
    const announced: PublishedEvent[] = [];
    const takeAll = async () => announced.push(...(await reader.take(reader.left)));
    const random = seededRandom(seed);
    const chance = (probability: number) => random() < probability;
    const nodes = upstreams.map((upstream) => new SteppingNode(upstream));
    const blocks = new Map<unknown, ScriptedBlock>([[GENESIS.root, GENESIS]]);
    const make = (slot: number, parent: ScriptedBlock, mark: number) => {
      const produced = block(slot, parent, mark);
      blocks.set(produced.root, produced);
      for (const node of nodes) node.imports(produced);
      return produced;
    };
    const releases = new Set<() => void>();
    const release = () => {
      for (const each of releases) each();
      releases.clear();
    };
    const disturb = ({ upstream }: SteppingNode) => {
      const status = chance(0.5) ? 404 : 503;
      const delays = chance(0.5);
      upstream.disturb = () => (delays ? new Promise<void>((resolve) => releases.add(resolve)) : status);
    };
    const mend = () => {
      for (const { upstream } of nodes) upstream.disturb = () => undefined;
      release();
    };
    const poll = ({ upstream: { name, finalized } }: SteppingNode) => health.change(name, { finalized });
    /** Lets the nodes take steps, each at its own speed. */
    const pass = async (steps: number) => {
      for (let step = 0; step < steps; step++) {
        for (const node of nodes) {
          if (chance(0.7)) node.step();
          if (chance(0.08)) node.upstream.breakOff();
          if (chance(0.05)) disturb(node);
          if (chance(0.1)) poll(node);
        }
        if (chance(0.15)) mend();
        if (chance(0.2)) release();
        await timers.advance(Math.floor(random() * (chance(0.2) ? 1200 : 80)));
        await takeAll();
      }
      mend();
    };
    let head = GENESIS;
    for (let slot = 1; slot <= SLOTS; slot++) {
      const finalized =
        slot > FINALITY_SLOTS && slot % SLOTS_PER_EPOCH === 0
          ? { epoch: (slot - FINALITY_SLOTS) / SLOTS_PER_EPOCH, root: chainOf(head)[1]!.root }
          : undefined;
      // Either the chain goes on, or a sibling of the head is imported that becomes part of the chain later.
      const sibling = head.parent && chance(0.2) ? make(head.slot, head.parent, 2 + (slot % 14)) : head;
      if (chance(0.9)) head = make(slot, chance(0.7) ? sibling : head, 1);
      for (const node of nodes) node.follows(head, finalized);
      await pass(8);
    }
    const last = (topic: string) => announced.findLast((event) => event.topic === topic)?.value;
    const isOver = () => last("head")?.block === head.root && last("finalized_checkpoint")?.epoch === LAST_FINALIZED;
    for (let slot = SLOTS + 1; !isOver() && slot < SLOTS + 300; slot++) {
      if (slot <= SLOTS + 3) {
        head = make(slot, head, 1);
        for (const node of nodes) node.follows(head);
      }
      while (nodes.some(({ hasSteps }) => hasSteps)) for (const node of nodes) node.step();
      for (const node of nodes) poll(node);
      await timers.advance(100);
      await takeAll();
    }
    expect(faultsOf(announced, blocks)).toEqual([]);
    const canonical = new Set<unknown>(chainOf(head).map(({ root }) => root));
    const slots = announced.flatMap(({ topic, value }) =>
      topic === "block" && canonical.has(value.block) ? [Number(value.slot)] : [],
    );
    expect(slots).toEqual(slots.toSorted((a, b) => a - b));
    const epochs = announced.flatMap(({ topic, value }) =>
      topic === "finalized_checkpoint" ? [Number(value.epoch)] : [],
    );
    expect(isOver()).toBe(true);
    expect(epochs).toEqual([...new Set(epochs)].toSorted((a, b) => a - b));
    expect(logger.records.filter(({ message }) => message.startsWith("Gap in chain events, skipping"))).toEqual([]);
  },
);
