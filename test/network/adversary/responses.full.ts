import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@libp2p/interface";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type phase0, type Slot, ssz } from "@lodestar/types";
import { multiaddr } from "@multiformats/multiaddr";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ResponseCode } from "../../../src/network/reqresp/protocols.ts";
import { encodeChunk, encodeErrorChunk } from "../../../src/network/reqresp/response-chunk.ts";
import { encodePayload } from "../../../src/network/reqresp/ssz-snappy.ts";
import { eventually, Scenario, statusOf } from "./support/scenario.ts";

const HISTORY_SLOTS = 20 * SLOTS_PER_EPOCH;
const { SignedBeaconBlock } = ssz.phase0;

let scenario: Scenario;
let history: phase0.SignedBeaconBlock[];
beforeAll(async () => {
  scenario = await Scenario.begin({
    historySlots: HISTORY_SLOTS,
    isAlone: true,
    victim: {
      requestLimits: { ttfbTimeoutMs: 1000, respTimeoutMs: 1000, responseMs: 4000, lingerMs: 100 },
      syncLimits: { batchSlots: 16, backoffMs: 50, targetBackoffMs: 100 },
    },
  });
  const { blocks } = scenario.honest.chain;
  const roots = await Promise.all(
    Array.from({ length: HISTORY_SLOTS }, (_, i) => blocks.canonicalAtSlot(i + 1).then((block) => block!.root)),
  );
  history = (await Promise.all(roots.map((root) => blocks.signedByRoot(root)))) as phase0.SignedBeaconBlock[];
});
afterAll(async () => {
  const complaints = scenario.complaints();
  await scenario.end();
  expect(complaints.filter((line) => !line.includes("Rejected block from peer"))).toEqual([]);
});

interface Range {
  startSlot: Slot;
  count: number;
}
/** Bytes of a complete response, or a function that replaces it. */
type Lie = (blocks: phase0.SignedBeaconBlock[], range: Range, stream: Stream) => Uint8Array[] | Promise<Uint8Array[]>;

const digest = () => statusOf(scenario.honest).forkDigest;
const chunk = (block: phase0.SignedBeaconBlock) => encodeChunk(SignedBeaconBlock.serialize(block), digest());
const chunks = (blocks: phase0.SignedBeaconBlock[]) => blocks.map(chunk);

const LIES: [what: string, lie: Lie][] = [
  ["garbage", () => [randomBytes(2000)]],
  ["an error", () => [encodeErrorChunk(ResponseCode.SERVER_ERROR, "x".repeat(256))]],
  ["an unknown fork", (blocks) => [encodeChunk(SignedBeaconBlock.serialize(blocks[0]!), randomBytes(4))]],
  ["a bomb", () => [Buffer.concat([Buffer.of(0), digest(), encodePayload(Buffer.alloc(1 << 22))])]],
  ["blocks backwards", (blocks) => chunks(blocks.toReversed())],
  [
    "blocks of other slots",
    (_, { startSlot }) => chunks(history.slice(startSlot > 40 ? 0 : 60, startSlot > 40 ? 16 : 76)),
  ],
  ["more than was asked for", (blocks) => chunks([...blocks, ...history.slice(-3)])],
  ["a block twice", (blocks) => chunks([...blocks.slice(0, 2), ...blocks.slice(1, 3)])],
  ["every other block", (blocks) => chunks(blocks.filter((_, i) => i % 2 === 0))],
  [
    "a block in the middle that its proposer did not sign",
    (blocks) => chunks(blocks.map((block, i) => (i === 5 ? { ...block, signature: blocks[0]!.signature } : block))),
  ],
  ["nothing", () => []],
  ["silence", () => new Promise(() => {})],
  [
    "a byte at a time",
    async (blocks, _, stream) => {
      for (const byte of chunk(blocks[0]!)) {
        await sleep(50);
        stream.send(Uint8Array.of(byte));
      }
      return [];
    },
  ],
  [
    "chunks without end",
    async (blocks, _, stream) => {
      for (;;) {
        for (const bytes of chunks(blocks)) if (!stream.send(bytes)) await stream.onDrain();
        await sleep(1);
      }
    },
  ],
];

it("a node among many lying peers finds the honest one and syncs", async () => {
  const liars = await Promise.all(
    LIES.map(async ([what, lie]) => {
      const liar = await scenario.stranger();
      liar.behaviours.set("beacon_blocks_by_range", async (stream, { body }) => {
        const { startSlot, count } = ssz.phase0.BeaconBlocksByRangeRequest.deserialize(body);
        const blocks = history.slice(startSlot - 1, startSlot - 1 + count);
        for (const bytes of await lie(blocks, { startSlot, count }, stream)) stream.send(bytes);
        await stream.close();
      });
      await scenario.join(liar);
      return { what, liar };
    }),
  );
  await eventually(() => {
    for (const { liar } of liars) expect(liar.asked.map(({ name }) => name)).toContain("beacon_blocks_by_range");
  });
  const { victim, honest } = scenario;
  expect(victim.chain.head.slot).toBeLessThan(HISTORY_SLOTS);
  await victim.networking.network.host.dial(multiaddr(honest.address));

  await scenario.network.untilSameHead([honest, victim]);
  await eventually(() => expect(victim.networking.sync.isSyncing).toBe(false));
  const blameless = liars.filter(({ liar }) => scenario.score(liar) === 0).map(({ what }) => what);
  expect(blameless).toEqual([]);
  // It may have been late on a busy machine.
  expect(victim.networking.network.peers.scores.standing(honest.peerId)).toBe("good");
  await scenario.expectFollowing();
});

it("a peer with false claims prevents neither following nor duties", async () => {
  const { network, victim, honest } = scenario;
  const claims: [what: string, status: () => Partial<ReturnType<typeof statusOf>>][] = [
    ["a head of its own", () => ({ headRoot: randomBytes(32) })],
    ["more finality", () => ({ finalizedRoot: randomBytes(32), finalizedEpoch: network.clock.currentEpoch })],
  ];
  const liars = await Promise.all(
    claims.map(async ([, claim]) => {
      const liar = await scenario.stranger({ status: () => ({ ...statusOf(honest), ...claim() }) });
      liar.behaviours.set("beacon_blocks_by_range", () => new Promise(() => {}));
      liar.behaviours.set("beacon_blocks_by_root", () => new Promise(() => {}));
      await scenario.join(liar);
      return liar;
    }),
  );
  const states: string[] = [];
  const stop = victim.networking.sync.onChange((state) => states.push(state));
  for (let i = 0; i < 3; i++) {
    for (const liar of liars) await liar.introduce();
    await scenario.expectFollowing();
    expect(victim.networking.sync.isSyncing).toBe(false);
  }
  await eventually(() => {
    for (const liar of liars) expect(scenario.score(liar)).toBeLessThan(0);
  });
  stop();
  expect(states).toEqual([]);
});

it.each<[what: string, claim: () => Partial<ReturnType<typeof statusOf>>]>([
  ["a head in the future", () => ({ headSlot: 10 ** 6, headRoot: randomBytes(32) })],
  ["finality in the future", () => ({ finalizedEpoch: 10 ** 6, finalizedRoot: randomBytes(32) })],
  ["another finalized block", () => ({ finalizedRoot: randomBytes(32) })],
  ["another network", () => ({ forkDigest: randomBytes(4) })],
])("a peer that tells of %s is left", async (_what, claim) => {
  const stranger = await scenario.stranger({ status: () => ({ ...statusOf(scenario.honest), ...claim() }) });
  await stranger.dial(scenario.victim.address);
  await stranger.introduce();
  await eventually(() => expect(scenario.isConnected(stranger)).toBe(false));
  await eventually(() => expect(stranger.asked.map(({ name }) => name)).toContain("goodbye"));
  await scenario.expectFollowing();
});
