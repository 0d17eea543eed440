import { expect, it } from "vitest";
import {
  CHAIN_EVENT_TOPICS,
  openMerger,
  type PublishedEvent,
} from "../../../test/support/gateway/events/event-merger.ts";
import {
  attestationEvent,
  block,
  blockEvent,
  exitEvent,
  GENESIS,
  headEvent,
  hexOf,
  passUntil,
  reorgEvent,
  type ScriptedBlock,
  SLOTS_PER_EPOCH,
  type StreamingUpstream,
  stateRootAt,
  stateRootOf,
} from "../../../test/support/gateway/events/streaming-upstream.ts";

const importOf = (head: ScriptedBlock): PublishedEvent[] => [
  { topic: "block", value: blockEvent(head) },
  { topic: "head", value: headEvent(head) },
];

/** Creates a chain with a block per slot. */
function chain(slots: number, parent = GENESIS): ScriptedBlock[] {
  const blocks: ScriptedBlock[] = [];
  for (let slot = parent.slot + 1; blocks.length < slots; slot++) blocks.push(block(slot, blocks.at(-1) ?? parent));
  return blocks;
}

it("publishes objects once and chain events of the leader verbatim", async () => {
  const { upstreams, observer, read, hub, health } = await openMerger("a", "b");
  const [a, b] = upstreams as [StreamingUpstream, StreamingUpstream];
  const announced = read([...CHAIN_EVENT_TOPICS, "voluntary_exit"]);
  const [first] = chain(1) as [ScriptedBlock];
  const before = hub.revision[0]!;
  b.imports(first);
  expect(await announced.next()).toEqual({ topic: "block", value: blockEvent(first) });
  a.write(`event: block\ndata: {"execution_optimistic":true, "block" : "${first.root}","slot":"1"}\n\n`);
  a.publish("head", headEvent(first));
  expect(await announced.next()).toEqual({ topic: "head", value: headEvent(first) });
  const exit = exitEvent(7, 12);
  a.publish("voluntary_exit", exit);
  expect(await announced.next()).toEqual({ topic: "voluntary_exit", value: exit });
  b.write(
    `event: voluntary_exit\ndata: {"signature":"${exit.signature}","message":{"validator_index":"7","epoch":"1"}}\n\n`,
  );
  const other = exitEvent(7, 13);
  b.publish("voluntary_exit", other);
  expect(await announced.next()).toEqual({ topic: "voluntary_exit", value: other });
  expect(observer.toSorted()).toEqual(["a head 1", "b head 1"]);
  expect(hub.revision[0]).toBeGreaterThanOrEqual(before + 2);
  expect(health.headFloor).toBe(1);
});

it("publishes new finality after a revert", async () => {
  const { upstreams, read, observer } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const blocks = chain(20);
  const finalized = (epoch: number, mark: number) => ({
    topic: "finalized_checkpoint",
    value: { block: hexOf(mark), state: hexOf(mark), epoch: String(epoch), execution_optimistic: false },
  });
  for (const each of blocks) a.imports(each);
  a.publish("finalized_checkpoint", finalized(2, 1).value);
  await announced.take(40);
  expect(await announced.next()).toEqual(finalized(2, 1));
  const shallow = block(21, blocks[16], 1);
  const deep = block(22, blocks[10], 2);
  const reorgTo = (head: ScriptedBlock, old: ScriptedBlock, ancestor: ScriptedBlock) => {
    a.setHead(head);
    a.publishBlock(head);
    a.publish("chain_reorg", reorgEvent(old, head, ancestor));
    a.tellHead(head);
  };
  reorgTo(shallow, blocks[19]!, blocks[16]!);
  a.publish("finalized_checkpoint", finalized(1, 2).value);
  expect((await announced.take(3)).map(({ topic }) => topic)).toEqual(["block", "chain_reorg", "head"]);
  reorgTo(deep, shallow, blocks[10]!);
  a.publish("finalized_checkpoint", finalized(1, 3).value);
  expect((await announced.take(4)).map(({ topic }) => topic)).toEqual([
    "block",
    "chain_reorg",
    "head",
    "finalized_checkpoint",
  ]);
  expect(observer.filter((add) => String(add).includes("reorg"))).toEqual(["a reorg after 17", "a reorg after 11"]);
});

it("continues with the log of another upstream when the leader fails", async () => {
  const { upstreams, read, health } = await openMerger("a", "b");
  const [a, b] = upstreams as [StreamingUpstream, StreamingUpstream];
  const announced = read([...CHAIN_EVENT_TOPICS, "voluntary_exit"]);
  const [first, second, third] = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
  for (const upstream of upstreams) upstream.imports(first);
  expect(await announced.take(2)).toEqual(importOf(first));
  const finalized = (epoch: number) => ({
    topic: "finalized_checkpoint",
    value: { block: GENESIS.root, state: stateRootOf(GENESIS), epoch: String(epoch), execution_optimistic: false },
  });
  b.imports(second);
  b.publish("finalized_checkpoint", finalized(1).value);
  b.publish("voluntary_exit", exitEvent(7));
  expect(await announced.take(2)).toEqual([
    { topic: "block", value: blockEvent(second) },
    { topic: "voluntary_exit", value: exitEvent(7) },
  ]);
  const requestsBefore = b.requests.length;
  health.change("a", { state: "down" });
  a.breakOff();
  expect(await announced.take(2)).toEqual([{ topic: "head", value: headEvent(second) }, finalized(1)]);
  b.imports(third);
  expect(await announced.take(2)).toEqual(importOf(third));
  expect(b.requests.length).toBe(requestsBefore);
});

it("fills gaps by requests, with complete events", async () => {
  const { upstreams, read, reconnect } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const blocks = chain(SLOTS_PER_EPOCH * 2 + 3);
  a.imports(blocks[0]!);
  expect(await announced.take(2)).toEqual(importOf(blocks[0]!));
  a.setHead(blocks.at(-2)!);
  a.finalized = { epoch: 1, root: blocks[7]!.root };
  await reconnect(a);
  expect(await announced.take(2 * (blocks.length - 2))).toEqual(blocks.slice(1, -1).flatMap(importOf));
  expect(await announced.next()).toEqual({
    topic: "finalized_checkpoint",
    value: { block: blocks[7]!.root, state: stateRootOf(blocks[7]!), epoch: "1", execution_optimistic: false },
  });
  a.imports(blocks.at(-1)!);
  expect(await announced.take(2)).toEqual(importOf(blocks.at(-1)!));
});

it("publishes finality with the state root of the epoch start", async () => {
  const { upstreams, read, reconnect } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(["finalized_checkpoint"]);
  const [last] = chain(SLOTS_PER_EPOCH - 1).slice(-1) as [ScriptedBlock];
  a.setHead(block(SLOTS_PER_EPOCH + 1, last));
  a.finalized = { epoch: 1, root: last.root };
  await reconnect(a);
  expect((await announced.next()).value).toMatchObject({ block: last.root, state: stateRootAt(SLOTS_PER_EPOCH) });
});

it("fills the gap after an upstream reports dropped events", async () => {
  const { upstreams, read, timers } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const blocks = chain(4);
  a.imports(blocks[0]!);
  expect(await announced.take(2)).toEqual(importOf(blocks[0]!));
  a.setHead(blocks[2]!);
  a.write(":error - dropped 4 messages\n\n");
  await passUntil(timers, 250, () => announced.left === 4);
  a.imports(blocks[3]!);
  expect(await announced.take(6)).toEqual(blocks.slice(1).flatMap(importOf));
});

it("starts at the upstream's head and fills gaps over empty epochs", async () => {
  const { upstreams, read, reconnect } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const late = block(5 * SLOTS_PER_EPOCH, block(3, GENESIS));
  a.setHead(late);
  await reconnect(a);
  expect(await announced.take(4)).toEqual([...importOf(late.parent!), ...importOf(late)]);
});

it("publishes a reorg when the new leader is on another branch", async () => {
  const { upstreams, read } = await openMerger("a", "b");
  const [a, b] = upstreams as [StreamingUpstream, StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const [first, second] = chain(2) as [ScriptedBlock, ScriptedBlock];
  for (const upstream of upstreams) upstream.imports(first);
  expect(await announced.take(2)).toEqual(importOf(first));
  a.imports(second);
  expect(await announced.take(2)).toEqual(importOf(second));
  a.breakOff();
  await a.connected(0);
  const otherSecond = block(2, first, 1);
  const third = block(3, otherSecond, 1);
  // There is no switch to a head that is not newer.
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
  expect(await announced.take(4)).toEqual([
    { topic: "block", value: blockEvent(otherSecond) },
    { topic: "block", value: blockEvent(third) },
    { topic: "chain_reorg", value: reorg },
    { topic: "head", value: headEvent(third) },
  ]);
  const fourth = block(4, third, 1);
  b.imports(fourth);
  expect(await announced.take(2)).toEqual(importOf(fourth));
});

it("elects another leader when it is late or not ready, and returns to the better tier", async () => {
  const { upstreams, read, timers, health, observer } = await openMerger("a", "b", "c");
  const [a, b, c] = upstreams as [StreamingUpstream, StreamingUpstream, StreamingUpstream];
  const announced = read(["head"]);
  const heads = chain(6);
  const onEvent = async () => (await announced.next()).value;
  a.imports(heads[0]!);
  expect(await onEvent()).toEqual(headEvent(heads[0]!));
  b.imports(heads[0]!);
  b.imports(heads[1]!);
  await passUntil(timers, 0, () => observer.includes("b head 2"));
  await timers.advance(499);
  expect(announced.left).toBe(0);
  await timers.advance(1);
  expect(await onEvent()).toEqual(headEvent(heads[1]!));
  // The late upstream has caught up and leads again.
  a.imports(heads[1]!);
  a.imports(heads[2]!);
  expect(await onEvent()).toEqual(headEvent(heads[2]!));
  c.imports(heads[2]!);
  c.imports(heads[3]!);
  b.imports(heads[2]!);
  health.change("a", { state: "behind" });
  health.change("b", { state: "down" });
  expect(await onEvent()).toEqual(headEvent(heads[3]!));
});

it("ignores foreign and syncing upstreams while another is ready", async () => {
  const { upstreams, read, health, timers, observer } = await openMerger("a", "b");
  const [a, b] = upstreams as [StreamingUpstream, StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const states = ["behind", "foreign", "down"] as const;
  for (const [index, state] of states.entries()) {
    health.change("b", { state });
    b.imports(block(50 + index, GENESIS, 3));
    await passUntil(timers, 0, () => observer.includes(`b head ${50 + index}`));
    await timers.advance(500);
  }
  const [first] = chain(1) as [ScriptedBlock];
  a.imports(first);
  expect(await announced.take(2)).toEqual(importOf(first));
});

it("skips a gap that cannot be filled, with a warning", async () => {
  const { upstreams, read, timers, logger, reconnect } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const [, second, third] = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
  a.isAnswering = false;
  await reconnect(a);
  a.imports(second);
  const warnings = () => logger.records.filter(({ message }) => message.startsWith("Gap in chain events, skipping"));
  await passUntil(timers, 500, () => warnings().length === 1);
  a.imports(third);
  expect(await announced.take(4)).toEqual([second, third].flatMap(importOf));
});

it("subscribes to topics while they have readers, and skips invalid events", async () => {
  const { upstreams, read, timers, logger, hub } = await openMerger("a", "b");
  const [a, b] = upstreams as [StreamingUpstream, StreamingUpstream];
  const end = hub.feed(["attestation"]).open({ deliver: () => {}, disconnect: () => {} });
  const announced = read(["single_attestation", "payload_attributes"]);
  await Promise.all([a.connected(4), b.connected(4)]);
  const vote = attestationEvent(1, 1);
  const attributes = { version: "fulu", data: { proposal_slot: "1" } };
  for (const upstream of upstreams) {
    upstream.write("event: single_attestation\ndata: [1]\n\n", "single_attestation");
    upstream.publish("payload_attributes", attributes);
    upstream.publish("single_attestation", vote);
  }
  const onEvent = await announced.take(2);
  expect(onEvent).toContainEqual({ topic: "single_attestation", value: vote });
  expect(onEvent).toContainEqual({ topic: "payload_attributes", value: attributes });
  b.publish("single_attestation", { ...vote, attester_index: "2" });
  expect(await announced.next()).toMatchObject({ value: { attester_index: "2" } });
  expect(logger.records.filter(({ message }) => message.includes("Invalid event"))).toHaveLength(2);
  end();
  await passUntil(timers, 10_000, () => upstreams.every(({ connections }) => connections === 3));
});

it("increments the revision when polls show a change", async () => {
  const { hub, health } = await openMerger("a", "b");
  const revisions = () => [...hub.revision];
  const [head, status] = revisions() as [number, number];
  health.change("a", { head: { slot: 1, root: "0x1" } });
  expect(revisions()).toEqual([head + 1, status + 1]);
  health.change("b", { head: { slot: 1, root: "0x1" } });
  expect(revisions()).toEqual([head + 1, status + 2]);
  health.change("b", { isExecutionOffline: true });
  expect(revisions()).toEqual([head + 1, status + 3]);
  health.change("a", { head: { slot: 1, root: "0x2" } });
  expect(revisions()).toEqual([head + 2, status + 4]);
});

it("publishes no block before its parent", async () => {
  const { upstreams, read, health, observer, timers, reconnect } = await openMerger("a", "b");
  const [a, b] = upstreams as [StreamingUpstream, StreamingUpstream];
  const announced = read(["block"]);
  const [first, second, third, fourth] = chain(4) as [ScriptedBlock, ScriptedBlock, ScriptedBlock, ScriptedBlock];
  const onEvent = async () => ((await announced.next()).value as { slot: string }).slot;
  health.change("b", { state: "behind" });
  b.imports(first);
  await passUntil(timers, 0, () => observer.includes("b head 1"));
  health.change("b", { state: "ready" });
  b.publishBlock(second);
  expect([await onEvent(), await onEvent()]).toEqual(["1", "2"]);
  // It has the third block when it is connected, which was not announced yet.
  b.setHead(third);
  await reconnect(b);
  b.imports(fourth);
  await passUntil(timers, 0, () => observer.includes("b head 4"));
  for (const each of [first, second, third, fourth]) a.imports(each);
  expect([await onEvent(), await onEvent()]).toEqual(["3", "4"]);
});

it("tolerates an idle upstream", async () => {
  const { upstreams, health, timers, logger } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  health.change("a", { head: GENESIS });
  await timers.advance(100_000);
  const warnings = () => logger.records.flatMap(({ level, message }) => (level === "warn" ? [message] : []));
  expect([a.subscriptions.length, warnings()]).toEqual([1, []]);
  // It reports another head than it has announced.
  health.change("a", { head: block(1, GENESIS) });
  await passUntil(timers, 1000, () => a.subscriptions.length === 2);
  expect(warnings()).toEqual(["Upstream event stream disconnected, reconnecting"]);
});

it("skips unrequested topics and oversized events", async () => {
  const { upstreams, read, hub, logger } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(["block"]);
  for (const topic of ["constructor", "__proto__", "attestation", "\u001b[2J"])
    a.write(`event: ${topic}\ndata: {}\n\n`);
  const [first] = chain(1) as [ScriptedBlock];
  a.publish("block", { ...blockEvent(block(9)), padding: "x".repeat(200_000) });
  a.imports(first);
  expect(await announced.next()).toEqual({ topic: "block", value: blockEvent(first) });
  expect([...hub.eventCounts.keys()].toSorted()).toEqual(["block", "head"]);
  expect(logger.records.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual([
    { upstream: "a", topic: "block" },
  ]);
});

it("publishes finality once another ready upstream confirms it", async () => {
  const { upstreams, read, observer, health, timers } = await openMerger("a", "b", "c");
  const [a, b, c] = upstreams as [StreamingUpstream, StreamingUpstream, StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const finalized = (epoch: number, mark: number) => ({ block: hexOf(mark), state: hexOf(2), epoch: String(epoch) });
  const event = (epoch: number, mark: number) => ({ topic: "finalized_checkpoint", value: finalized(epoch, mark) });
  const [first] = chain(1) as [ScriptedBlock];
  a.imports(first);
  a.publish("finalized_checkpoint", finalized(3, 666));
  await passUntil(timers, 0, () => observer.includes("a finalized 3"));
  c.publish("finalized_checkpoint", finalized(3, 3));
  await passUntil(timers, 0, () => observer.includes("c finalized 3"));
  expect(await announced.take(announced.left)).toEqual(importOf(first));
  a.publish("finalized_checkpoint", finalized(4, 4));
  await passUntil(timers, 0, () => observer.includes("a finalized 4"));
  expect(announced.left).toBe(0);
  b.publish("finalized_checkpoint", finalized(4, 4));
  expect(await announced.next()).toEqual(event(4, 4));
  // Alone, it is believed.
  for (const name of ["b", "c"]) health.change(name, { state: "behind" });
  a.publish("finalized_checkpoint", finalized(5, 5));
  expect(await announced.next()).toEqual(event(5, 5));
});

it("skips finality that the spec rules out", async () => {
  const { upstreams, read, timers, observer } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(["finalized_checkpoint"]);
  const epoch = Math.floor(timers.unixNow() / 1000 / 12 / SLOTS_PER_EPOCH);
  const finalized = (epoch: number) => ({ block: hexOf(1), state: hexOf(2), epoch: String(epoch) });
  a.publish("finalized_checkpoint", finalized(epoch - 1));
  a.publish("finalized_checkpoint", finalized(epoch - 3));
  expect((await announced.next()).value).toEqual(finalized(epoch - 3));
  expect(observer).toEqual([`a finalized ${epoch - 3}`]);
});

it("skips exits of a future epoch", async () => {
  const { upstreams, read } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(["voluntary_exit"]);
  a.publish("voluntary_exit", { ...exitEvent(7), message: { epoch: "99999999", validator_index: "7" } });
  a.publish("voluntary_exit", exitEvent(8));
  expect((await announced.next()).value).toEqual(exitEvent(8));
});

it("skips a head before the last one unless the upstream confirms it", async () => {
  const { upstreams, read, observer, logger } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(["head"]);
  const blocks = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
  for (const each of blocks) a.imports(each);
  a.tellHead(block(2, blocks[0], 1));
  a.imports(block(4, blocks[2]));
  expect((await announced.take(4)).map(({ value }) => value.slot)).toEqual(["1", "2", "3", "4"]);
  expect(logger.records.some(({ message }) => message.includes("Invalid event"))).toBe(true);
  // Some clients announce the head before the reorg.
  const shorter = block(3, blocks[1], 1);
  a.imports(shorter);
  expect((await announced.next()).value).toEqual(headEvent(shorter));
  expect(observer).toEqual([1, 2, 3, 4, 3].map((slot) => `a head ${slot}`));
});

it("skips a reorg behind finality unless the upstream has reverted that", async () => {
  const { upstreams, read, observer } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(["head", "chain_reorg"]);
  const blocks = chain(20);
  for (const each of blocks) a.imports(each);
  a.finalized = { epoch: 2, root: blocks[15]!.root };
  a.publish("finalized_checkpoint", { block: blocks[15]!.root, state: hexOf(2), epoch: "2" });
  const deep = block(21, blocks[9], 1);
  a.addBlocks(deep);
  const reorg = reorgEvent(blocks[19]!, deep, blocks[9]!);
  a.publish("chain_reorg", reorg);
  a.publish("chain_reorg", { ...reorg, old_head_block: hexOf("ab") });
  const next = block(21, blocks[19]);
  a.imports(next);
  expect((await announced.take(21)).every(({ topic }) => topic === "head")).toBe(true);
  a.finalized = { epoch: 1, root: blocks[7]!.root };
  const reverted = reorgEvent(next, deep, blocks[9]!);
  a.publish("chain_reorg", reverted);
  expect((await announced.next()).value).toEqual(reverted);
  expect(observer.at(-1)).toBe("a reorg after 10");
});

it("skips events that lack members of their topic or are about the future", async () => {
  const { upstreams, read, health, observer, logger } = await openMerger("a", "b");
  health.change("b", { finalized: { epoch: 1, root: hexOf(1) } });
  const [a] = upstreams as [StreamingUpstream];
  const announced = read([...CHAIN_EVENT_TOPICS, "voluntary_exit"]);
  const [first] = chain(1) as [ScriptedBlock];
  const future = block(2 ** 40);
  const finalized = (epoch: number) => ({ block: hexOf(1), state: hexOf(2), epoch: String(epoch) });
  a.publish("voluntary_exit", {});
  a.publish("block", { ...blockEvent(first), slot: "-1" });
  a.publish("block", blockEvent(future));
  a.publish("head", headEvent(future));
  a.publish("head", { ...headEvent(first), state: "0x" });
  a.publish("chain_reorg", reorgEvent(GENESIS, future, GENESIS));
  a.publish("finalized_checkpoint", finalized(2 ** 40));
  a.imports(first);
  a.publish("finalized_checkpoint", finalized(1));
  expect(await announced.take(3)).toEqual([...importOf(first), { topic: "finalized_checkpoint", value: finalized(1) }]);
  expect(observer).toEqual(["a head 1", "a finalized 1"]);
  expect(logger.records.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
    "Invalid event from upstream, skipping",
  ]);
});

it("publishes events of a dev chain that runs ahead of the clock", async () => {
  const { upstreams, read, health } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(["block", "head"]);
  const ahead = block(2 ** 40);
  health.change("a", { head: ahead });
  const next = block(ahead.slot + 1, ahead);
  a.publishBlock(next);
  a.tellHead(next);
  expect(await announced.take(2)).toEqual(importOf(next));
});

it("continues without the finality that an upstream reports for a future epoch", async () => {
  const { upstreams, read, reconnect, health } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  health.change("a", { finalized: { epoch: 2 ** 40, root: hexOf(1) } });
  await reconnect(a);
  const announced = read(CHAIN_EVENT_TOPICS);
  const blocks = chain(4);
  a.imports(blocks[0]!);
  expect(await announced.take(2)).toEqual(importOf(blocks[0]!));
  a.finalized = { epoch: 2 ** 40, root: GENESIS.root };
  a.setHead(blocks[2]!);
  await reconnect(a);
  a.imports(blocks[3]!);
  expect(await announced.take(6)).toEqual(blocks.slice(1).flatMap(importOf));
  const value = { block: hexOf(1), state: hexOf(2), epoch: "1" };
  a.publish("finalized_checkpoint", value);
  expect(await announced.next()).toEqual({ topic: "finalized_checkpoint", value });
});
