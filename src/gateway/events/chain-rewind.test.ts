import { expect, it } from "vitest";
import {
  CHAIN_EVENT_TOPICS,
  openMerger,
  type PublishedEvent,
} from "../../../test/support/gateway/events/event-merger.ts";
import {
  attestationEvent,
  block,
  exitEvent,
  GENESIS,
  hexOf,
  passUntil,
  reorgEvent,
  type ScriptedBlock,
  type StreamingUpstream,
} from "../../../test/support/gateway/events/streaming-upstream.ts";

function chain(slots: number, parent = GENESIS, mark = 0): ScriptedBlock[] {
  const blocks: ScriptedBlock[] = [];
  for (let slot = parent.slot + 1; blocks.length < slots; slot++) {
    blocks.push(block(slot, blocks.at(-1) ?? parent, mark));
  }
  return blocks;
}

const exit = exitEvent(7);
const vote = attestationEvent(18, 1);
const finalized = (epoch: number) => ({ block: hexOf(1), state: hexOf(2), epoch: String(epoch) });

/** An update about the block before this slot. */
const update = (slot: number, stateRoot: string) => ({
  data: {
    attested_header: { beacon: { slot: String(slot - 1), state_root: stateRoot } },
    signature_slot: String(slot),
    sync_aggregate: { sync_committee_bits: "0xff" },
  },
});

const described = ({ topic, value }: PublishedEvent) => `${topic} ${value.slot ?? value.epoch ?? ""}`.trim();

/** Rewinds a chain of 20 blocks to the 16th on all upstreams, with all events published. */
async function goneBack(...names: string[]) {
  const merged = await openMerger(...names);
  const { upstreams, observer, timers, read } = merged;
  const announced = read([...CHAIN_EVENT_TOPICS, "voluntary_exit", "light_client_optimistic_update"]);
  const blocks = chain(20);
  const goOn = (upstream: StreamingUpstream) => {
    upstream.publish("voluntary_exit", exit);
    for (const each of blocks.slice(16)) upstream.imports(each);
    upstream.publish("light_client_optimistic_update", update(18, hexOf(17)));
    upstream.publish("finalized_checkpoint", finalized(1));
  };
  const goBack = (upstream: StreamingUpstream) => {
    upstream.publish("chain_reorg", reorgEvent(blocks[19]!, blocks[15]!, blocks[15]!));
    upstream.tellHead(blocks[15]!);
  };
  for (const upstream of upstreams) for (const each of blocks.slice(0, 16)) upstream.imports(each);
  for (const upstream of upstreams) goOn(upstream);
  await passUntil(timers, 0, () => names.every((name) => observer.includes(`${name} finalized 1`)));
  await announced.take(32 + 11);
  for (const upstream of upstreams) goBack(upstream);
  await passUntil(timers, 0, () => names.every((name) => observer.includes(`${name} reorg after 16`)));
  expect((await announced.take(2)).map(described)).toEqual(["chain_reorg 16", "head 16"]);
  return { ...merged, blocks, announced, goOn, goBack };
}

it("publishes repeated events after each rewind", async () => {
  const { upstreams, announced, goOn, goBack } = await goneBack("a");
  const [a] = upstreams as [StreamingUpstream];
  for (let time = 0; time < 2; time++) {
    goOn(a);
    goBack(a);
    expect((await announced.take(13)).map(described)).toEqual([
      "voluntary_exit",
      ...[17, 18, 19, 20].flatMap((slot) => [`block ${slot}`, `head ${slot}`]),
      "light_client_optimistic_update",
      "finalized_checkpoint 1",
      "chain_reorg 16",
      "head 16",
    ]);
  }
  a.publish("light_client_optimistic_update", update(18, hexOf(17)));
  a.publish("light_client_optimistic_update", update(18, hexOf(17)));
  a.publish("light_client_optimistic_update", update(18, hexOf(18)));
  const updates = await announced.take(2);
  expect(updates.map(({ value }) => value)).toEqual([update(18, hexOf(17)), update(18, hexOf(18))]);
});

it("publishes repeated events after a revert behind finality", async () => {
  const { upstreams, read } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(["voluntary_exit", "block", "chain_reorg"]);
  const blocks = chain(20);
  for (const each of blocks) a.imports(each);
  a.publish("finalized_checkpoint", finalized(2));
  a.publish("voluntary_exit", exit);
  const [, other] = chain(2, blocks[9], 1);
  a.setHead(other!);
  a.publish("chain_reorg", reorgEvent(blocks[19]!, other!, blocks[9]!));
  a.tellHead(other!);
  // The upstream announces the blocks of the other branch only by the reorg.
  const announcedThen = ["voluntary_exit", "block 11", "block 12", "chain_reorg 12"];
  expect((await announced.take(24)).slice(20).map(described)).toEqual(announcedThen);
  a.publish("voluntary_exit", exit);
  expect((await announced.next()).topic).toBe("voluntary_exit");
});

it("publishes repeated attestations after a rewind", async () => {
  const { upstreams, read, goOn, goBack } = await goneBack("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(["chain_reorg", "single_attestation"]);
  await a.connected(2);
  for (let time = 0; time < 2; time++) {
    a.publish("single_attestation", vote);
    a.publish("single_attestation", vote);
    expect((await announced.next()).topic).toBe("single_attestation");
    goOn(a);
    goBack(a);
    expect((await announced.next()).topic).toBe("chain_reorg");
  }
});

it("does not repeat abandoned blocks when another upstream takes over", async () => {
  const { upstreams, blocks, announced } = await goneBack("a", "b");
  const [a, b] = upstreams as [StreamingUpstream, StreamingUpstream];
  a.breakOff();
  await a.connected(0);
  for (const each of chain(2, blocks[15], 1)) b.imports(each);
  const events = (await announced.take(4)).map(described);
  expect(events.toSorted()).toEqual(["block 17", "block 18", "head 17", "head 18"]);
});

it("rewinds to an earlier head when a restarted upstream does not catch up", async () => {
  const { upstreams, read, timers, reconnect, health } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  const blocks = chain(6);
  for (const each of blocks) a.imports(each);
  await announced.take(12);
  a.setHead(blocks[2]!);
  health.change("a", { state: "behind" });
  await reconnect(a);
  // A syncing upstream reaches it again.
  await timers.advance(60_000);
  expect(announced.left).toBe(0);
  health.change("a", { state: "ready" });
  const others = chain(2, blocks[2], 1);
  a.imports(others[0]!);
  await passUntil(timers, 1000, () => announced.left === 3);
  a.imports(others[1]!);
  const events = await announced.take(5);
  expect(events.map(described)).toEqual(["block 4", "chain_reorg 4", "head 4", "block 5", "head 5"]);
  expect(events[1]!.value).toEqual(reorgEvent(blocks[5]!, others[0]!, blocks[2]!));
});

it("rewinds behind all announced heads", async () => {
  const { upstreams, read, timers, reconnect } = await openMerger("a");
  const [a] = upstreams as [StreamingUpstream];
  const announced = read(CHAIN_EVENT_TOPICS);
  for (const each of chain(6)) a.imports(each);
  await announced.take(12);
  const [first, second, third] = chain(3, block(0, undefined, 1), 1) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
  a.setHead(first);
  await reconnect(a);
  for (const each of [second, third]) a.imports(each);
  await passUntil(timers, 1000, () => announced.left > 0);
  const events = await announced.take(6);
  expect(events.map(described)).toEqual("chain_reorg 1,head 1,block 2,head 2,block 3,head 3".split(","));
  expect(events[0]!.value).toMatchObject({ depth: "5", new_head_block: first.root });
});
