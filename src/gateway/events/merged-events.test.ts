import { expect, it } from "vitest";
import { merge, STORY, type ToldEvent } from "./merged.test-support.ts";
import {
  block,
  blockEvent,
  GENESIS,
  headEvent,
  passUntil,
  reorgEvent,
  type ScriptedBlock,
  type ScriptedUpstream,
  SLOTS_PER_EPOCH,
  stateRootAt,
  stateRootOf,
} from "./scripted-upstream.test-support.ts";

const importOf = (head: ScriptedBlock): ToldEvent[] => [
  { topic: "block", value: blockEvent(head) },
  { topic: "head", value: headEvent(head) },
];

/** A chain of blocks, one a slot, on a parent. */
function chain(slots: number, parent = GENESIS): ScriptedBlock[] {
  const blocks: ScriptedBlock[] = [];
  for (let slot = parent.slot + 1; blocks.length < slots; slot++) blocks.push(block(slot, blocks.at(-1) ?? parent));
  return blocks;
}

it("tells an object once, by whoever is first, and the chain as the leader tells it, in its bytes", async () => {
  const { upstreams, notes, read, feeds, conditions } = await merge("a", "b");
  const [a, b] = upstreams as [ScriptedUpstream, ScriptedUpstream];
  const told = read([...STORY, "voluntary_exit"]);
  const [first] = chain(1) as [ScriptedBlock];
  const before = feeds.revision[0]!;
  b.imports(first);
  expect(await told.next()).toEqual({ topic: "block", value: blockEvent(first) });
  a.write(`event: block\ndata: {"execution_optimistic":true, "block" : "${first.root}","slot":"1"}\n\n`);
  a.tell("head", headEvent(first));
  expect(await told.next()).toEqual({ topic: "head", value: headEvent(first) });
  const exit = { message: { epoch: "1", validator_index: "7" }, signature: "0x12" };
  a.tell("voluntary_exit", exit);
  expect(await told.next()).toEqual({ topic: "voluntary_exit", value: exit });
  b.write(`event: voluntary_exit\ndata: {"signature":"0x12","message":{"validator_index":"7","epoch":"1"}}\n\n`);
  const other = { ...exit, signature: "0x13" };
  b.tell("voluntary_exit", other);
  expect(await told.next()).toEqual({ topic: "voluntary_exit", value: other });
  expect(notes.toSorted()).toEqual(["a head 1", "b head 1"]);
  expect(feeds.revision[0]).toBeGreaterThanOrEqual(before + 2);
  expect(conditions.floor).toBe(1);
});

it("tells what becomes final anew on a chain that has gone back behind it", async () => {
  const { upstreams, read, notes } = await merge("a");
  const [a] = upstreams as [ScriptedUpstream];
  const told = read(STORY);
  const blocks = chain(20);
  const finalized = (epoch: number, mark: string) => ({
    topic: "finalized_checkpoint",
    value: { block: mark, state: mark, epoch: String(epoch), execution_optimistic: false },
  });
  for (const each of blocks) a.imports(each);
  a.tell("finalized_checkpoint", finalized(2, "0x01").value);
  await told.take(40);
  expect(await told.next()).toEqual(finalized(2, "0x01"));
  const shallow = block(21, blocks[16], 1);
  const deep = block(22, blocks[10], 2);
  a.tell("chain_reorg", reorgEvent(blocks[19]!, shallow, blocks[16]!));
  a.imports(shallow);
  a.tell("finalized_checkpoint", finalized(1, "0x02").value);
  a.tell("chain_reorg", reorgEvent(shallow, deep, blocks[10]!));
  a.imports(deep);
  a.tell("finalized_checkpoint", finalized(1, "0x03").value);
  expect((await told.take(7)).map(({ topic }) => topic)).toEqual(
    "chain_reorg block head chain_reorg block head finalized_checkpoint".split(" "),
  );
  expect(notes.filter((note) => String(note).includes("reorg"))).toEqual(["a reorg after 17", "a reorg after 11"]);
});

it("lets another upstream go on where the leader failed, with what it has told itself", async () => {
  const { upstreams, read } = await merge("a", "b");
  const [a, b] = upstreams as [ScriptedUpstream, ScriptedUpstream];
  const told = read([...STORY, "voluntary_exit"]);
  const [first, second, third] = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
  for (const upstream of upstreams) upstream.imports(first);
  expect(await told.take(2)).toEqual(importOf(first));
  const finalized = (epoch: number) => ({
    topic: "finalized_checkpoint",
    value: { block: GENESIS.root, state: stateRootOf(GENESIS), epoch: String(epoch), execution_optimistic: false },
  });
  b.imports(second);
  b.tell("finalized_checkpoint", finalized(1).value);
  b.tell("voluntary_exit", {});
  expect(await told.take(2)).toEqual([
    { topic: "block", value: blockEvent(second) },
    { topic: "voluntary_exit", value: {} },
  ]);
  const asked = b.requests.length;
  a.breakOff();
  expect(await told.take(2)).toEqual([{ topic: "head", value: headEvent(second) }, finalized(1)]);
  b.imports(third);
  expect(await told.take(2)).toEqual(importOf(third));
  expect(b.requests.length).toBe(asked);
});

it("fills what nobody told by asking, with everything that the events of a node would have said", async () => {
  const { upstreams, read, reconnect } = await merge("a");
  const [a] = upstreams as [ScriptedUpstream];
  const told = read(STORY);
  const blocks = chain(SLOTS_PER_EPOCH * 2 + 3);
  a.imports(blocks[0]!);
  expect(await told.take(2)).toEqual(importOf(blocks[0]!));
  a.setHead(blocks.at(-2)!);
  a.finalized = { epoch: 1, root: blocks[7]!.root };
  await reconnect(a);
  expect(await told.take(2 * (blocks.length - 2))).toEqual(blocks.slice(1, -1).flatMap(importOf));
  expect(await told.next()).toEqual({
    topic: "finalized_checkpoint",
    value: { block: blocks[7]!.root, state: stateRootOf(blocks[7]!), epoch: "1", execution_optimistic: false },
  });
  a.imports(blocks.at(-1)!);
  expect(await told.take(2)).toEqual(importOf(blocks.at(-1)!));
});

it("tells the state at the beginning of an epoch with what has become final, also where its first slot is empty", async () => {
  const { upstreams, read, reconnect } = await merge("a");
  const [a] = upstreams as [ScriptedUpstream];
  const told = read(["finalized_checkpoint"]);
  const [last] = chain(SLOTS_PER_EPOCH - 1).slice(-1) as [ScriptedBlock];
  a.setHead(block(SLOTS_PER_EPOCH + 1, last));
  a.finalized = { epoch: 1, root: last.root };
  await reconnect(a);
  expect((await told.next()).value).toMatchObject({ block: last.root, state: stateRootAt(SLOTS_PER_EPOCH) });
});

it("fills what an upstream says that it has dropped from a stream that goes on", async () => {
  const { upstreams, read, timers } = await merge("a");
  const [a] = upstreams as [ScriptedUpstream];
  const told = read(STORY);
  const blocks = chain(4);
  a.imports(blocks[0]!);
  expect(await told.take(2)).toEqual(importOf(blocks[0]!));
  a.setHead(blocks[2]!);
  a.write(":error - dropped 4 messages\n\n");
  await passUntil(timers, 250, () => told.left === 4);
  a.imports(blocks[3]!);
  expect(await told.take(6)).toEqual(blocks.slice(1).flatMap(importOf));
});

it("begins with the head that an upstream has, and knows from there what was missed, over epochs without a block", async () => {
  const { upstreams, read, reconnect } = await merge("a");
  const [a] = upstreams as [ScriptedUpstream];
  const told = read(STORY);
  const late = block(5 * SLOTS_PER_EPOCH, block(3, GENESIS));
  a.setHead(late);
  await reconnect(a);
  expect(await told.take(4)).toEqual([...importOf(late.parent!), ...importOf(late)]);
});

it("tells of a reorganisation when the upstream that takes over has not followed the last head", async () => {
  const { upstreams, read } = await merge("a", "b");
  const [a, b] = upstreams as [ScriptedUpstream, ScriptedUpstream];
  const told = read(STORY);
  const [first, second] = chain(2) as [ScriptedBlock, ScriptedBlock];
  for (const upstream of upstreams) upstream.imports(first);
  expect(await told.take(2)).toEqual(importOf(first));
  a.imports(second);
  expect(await told.take(2)).toEqual(importOf(second));
  a.breakOff();
  await a.connected(0);
  const otherSecond = block(2, first, 1);
  const third = block(3, otherSecond, 1);
  // A head that is no newer than the last is not gone back to.
  b.imports(otherSecond);
  b.imports(third);
  const reorg = {
    slot: "3",
    depth: "1",
    old_head_block: second.root,
    new_head_block: third.root,
    old_head_state: stateRootOf(second),
    new_head_state: stateRootOf(third),
    epoch: "0",
    execution_optimistic: false,
  };
  expect(await told.take(4)).toEqual([
    { topic: "block", value: blockEvent(otherSecond) },
    { topic: "block", value: blockEvent(third) },
    { topic: "chain_reorg", value: reorg },
    { topic: "head", value: headEvent(third) },
  ]);
  const fourth = block(4, third, 1);
  b.imports(fourth);
  expect(await told.take(2)).toEqual(importOf(fourth));
});

it("takes another leader when the leader is late with a head, or is not ready, and the better tier when it is level again", async () => {
  const { upstreams, read, timers, conditions, notes } = await merge("a", "b", "c");
  const [a, b, c] = upstreams as [ScriptedUpstream, ScriptedUpstream, ScriptedUpstream];
  const told = read(["head"]);
  const heads = chain(6);
  const heard = async () => (await told.next()).value;
  a.imports(heads[0]!);
  expect(await heard()).toEqual(headEvent(heads[0]!));
  b.imports(heads[0]!);
  b.imports(heads[1]!);
  await passUntil(timers, 0, () => notes.includes("b head 2"));
  await timers.advance(499);
  expect(told.left).toBe(0);
  await timers.advance(1);
  expect(await heard()).toEqual(headEvent(heads[1]!));
  // The one that was late has caught up, and leads again.
  a.imports(heads[1]!);
  a.imports(heads[2]!);
  expect(await heard()).toEqual(headEvent(heads[2]!));
  c.imports(heads[2]!);
  c.imports(heads[3]!);
  b.imports(heads[2]!);
  conditions.set("a", { fitness: "behind" });
  conditions.set("b", { fitness: "down" });
  expect(await heard()).toEqual(headEvent(heads[3]!));
});

it("heeds no upstream that is on another chain or syncs, as long as another is ready", async () => {
  const { upstreams, read, conditions, timers, notes } = await merge("a", "b");
  const [a, b] = upstreams as [ScriptedUpstream, ScriptedUpstream];
  const told = read(STORY);
  const fitnesses = ["behind", "foreign", "down"] as const;
  for (const [index, fitness] of fitnesses.entries()) {
    conditions.set("b", { fitness });
    b.imports(block(50 + index, GENESIS, 3));
    await passUntil(timers, 0, () => notes.includes(`b head ${50 + index}`));
    await timers.advance(500);
  }
  const [first] = chain(1) as [ScriptedBlock];
  a.imports(first);
  expect(await told.take(2)).toEqual(importOf(first));
});

it("leaves out what cannot be found out, says so, and goes on", async () => {
  const { upstreams, read, timers, logger, reconnect } = await merge("a");
  const [a] = upstreams as [ScriptedUpstream];
  const told = read(STORY);
  const [, second, third] = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
  a.isAnswering = false;
  await reconnect(a);
  a.imports(second);
  const warnings = () => logger.records.filter(({ message }) => message.startsWith("Events are left out"));
  await passUntil(timers, 500, () => warnings().length === 1);
  a.imports(third);
  expect(await told.take(4)).toEqual([second, third].flatMap(importOf));
});

it("follows topics as long as somebody reads them, and leaves out what is no JSON object", async () => {
  const { upstreams, read, timers, logger, feeds } = await merge("a", "b");
  const [a, b] = upstreams as [ScriptedUpstream, ScriptedUpstream];
  const end = feeds.feed(["single_attestation"]).open({ deliver: () => {}, cutOff: () => {} });
  const told = read(["single_attestation", "payload_attributes"]);
  await Promise.all([a.connected(2), b.connected(2)]);
  await passUntil(timers, 1000, () => upstreams.every(({ connections }) => connections === 1));
  const vote = { attester_index: "1", data: { slot: "1" }, signature: "0x1" };
  const attributes = { version: "fulu", data: { proposal_slot: "1" } };
  for (const upstream of upstreams) {
    upstream.write("event: single_attestation\ndata: [1]\n\n");
    upstream.tell("payload_attributes", attributes);
    upstream.tell("single_attestation", vote);
  }
  const heard = await told.take(2);
  expect(heard).toContainEqual({ topic: "single_attestation", value: vote });
  expect(heard).toContainEqual({ topic: "payload_attributes", value: attributes });
  b.tell("single_attestation", { ...vote, attester_index: "2" });
  expect(await told.next()).toMatchObject({ value: { attester_index: "2" } });
  expect(logger.records.filter(({ message }) => message.includes("that is no event"))).toHaveLength(2);
  end();
});

it("raises the numbers of the revision when polls alone show that something has changed", async () => {
  const { feeds, conditions } = await merge("a", "b");
  const revisions = () => [...feeds.revision];
  const [head, status] = revisions() as [number, number];
  conditions.set("a", { head: { slot: 1, root: "0x1" } });
  expect(revisions()).toEqual([head + 1, status + 1]);
  conditions.set("b", { head: { slot: 1, root: "0x1" } });
  expect(revisions()).toEqual([head + 1, status + 2]);
  conditions.set("b", { isExecutionOffline: true });
  expect(revisions()).toEqual([head + 1, status + 3]);
  conditions.set("a", { head: { slot: 1, root: "0x2" } });
  expect(revisions()).toEqual([head + 2, status + 4]);
});

it("tells no block before its parent, whoever tells it", async () => {
  const { upstreams, read, conditions, notes, timers, reconnect } = await merge("a", "b");
  const [a, b] = upstreams as [ScriptedUpstream, ScriptedUpstream];
  const told = read(["block"]);
  const [first, second, third, fourth] = chain(4) as [ScriptedBlock, ScriptedBlock, ScriptedBlock, ScriptedBlock];
  const heard = async () => ((await told.next()).value as { slot: string }).slot;
  conditions.set("b", { fitness: "behind" });
  b.imports(first);
  await passUntil(timers, 0, () => notes.includes("b head 1"));
  conditions.set("b", { fitness: "ready" });
  b.tellBlock(second);
  expect([await heard(), await heard()]).toEqual(["1", "2"]);
  // It has the third one when it is connected, of which nobody has told yet.
  b.setHead(third);
  await reconnect(b);
  b.imports(fourth);
  await passUntil(timers, 0, () => notes.includes("b head 4"));
  for (const each of [first, second, third, fourth]) a.imports(each);
  expect([await heard(), await heard()]).toEqual(["3", "4"]);
});

it("does not miss the signs of life of an upstream that has nothing to tell", async () => {
  const { upstreams, conditions, timers, logger } = await merge("a");
  const [a] = upstreams as [ScriptedUpstream];
  conditions.set("a", { head: GENESIS });
  await timers.advance(100_000);
  const warnings = () => logger.records.flatMap(({ level, message }) => (level === "warn" ? [message] : []));
  expect([a.subscriptions.length, warnings()]).toEqual([1, []]);
  // By what it answers it has another head, of which it does not tell.
  conditions.set("a", { head: block(1, GENESIS) });
  await passUntil(timers, 1000, () => a.subscriptions.length === 2);
  expect(warnings()).toEqual(["An upstream tells no events; it is asked again"]);
});

it("leaves out topics that nobody asked for, and what is too large to be remembered", async () => {
  const { upstreams, read, feeds, logger } = await merge("a");
  const [a] = upstreams as [ScriptedUpstream];
  const told = read(["block"]);
  for (const topic of ["constructor", "__proto__", "attestation", "\u001b[2J"])
    a.write(`event: ${topic}\ndata: {}\n\n`);
  const [first] = chain(1) as [ScriptedBlock];
  a.tell("block", { ...blockEvent(block(9)), padding: "x".repeat(200_000) });
  a.tellBlock(first);
  expect(await told.next()).toEqual({ topic: "block", value: blockEvent(first) });
  expect([...feeds.told.keys()]).toEqual(["block"]);
  expect(logger.records.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual([
    { upstream: "a", topic: "block" },
  ]);
});
