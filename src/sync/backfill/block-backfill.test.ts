import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OpenedDevChain, startQuietDevChain } from "../../../test/support/chain/dev-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { openAnchoredAt } from "../../../test/support/sync/backfill/anchored-chain.ts";
import { FakePeers, type ServedBlock } from "../../../test/support/sync/fake-peers.ts";
import { blocksOf } from "../../../test/support/sync/history.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { checkChain } from "../../chain/stored/check-chain.ts";
import { RequestError } from "../../network/reqresp/errors.ts";
import { BackfillPeers } from "./backfill-peers.ts";
import { BlockBackfill } from "./block-backfill.ts";

/** More empty slots than a range has. */
const EMPTY_SLOTS = 6;
const BATCH_SLOTS = 4;
const REST_MS = 1000;
const ANCHOR_SLOT = 24;

let source: OpenedDevChain;
let history: ServedBlock[];
beforeAll(async () => {
  source = await startQuietDevChain(ANCHOR_SLOT + 4, { validators: 8 }, { emptySlots: EMPTY_SLOTS });
  history = await blocksOf(source.devChain);
}, 120_000);
afterAll(() => source?.close());

const FIRST_SLOT = EMPTY_SLOTS + 1;
const slotsFrom = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

function walkOf(
  chain: BeaconChain,
  peers: FakePeers,
  { epochs = Number.POSITIVE_INFINITY, batchSlots = BATCH_SLOTS } = {},
) {
  let now = 0;
  const timers = { now: () => now };
  const backfillPeers = new BackfillPeers({ peers, timers, backoffMs: REST_MS });
  const logger = createRecordingLogger();
  const walk = new BlockBackfill({ chain, peers, backfillPeers, epochs, batchSlots, timers, logger });
  const step = () => walk.step(new AbortController().signal);
  const run = async () => {
    while (await step());
  };
  /** Ends all backoffs. */
  const letRestersBeAsked = () => {
    now += REST_MS;
  };
  return { step, run, letRestersBeAsked, logger };
}

async function heldSlots(chain: BeaconChain): Promise<number[]> {
  const slots = slotsFrom(0, ANCHOR_SLOT);
  const blocks = await Promise.all(slots.map((slot) => chain.blocks.canonicalAtSlot(slot).catch(() => null)));
  return slots.filter((slot) => blocks[slot] !== null);
}

describe("the history of a checkpoint-synced chain", () => {
  it.each([
    ["its block", { withBlock: true }],
    ["no block", { withBlock: false }],
  ])("with %s is fetched down to genesis, and complete after a restart", async (_, options) => {
    const { chain, db, reopen } = await openAnchoredAt(ANCHOR_SLOT, source.devChain, options);
    const peers = new FakePeers();
    peers.add("young", history, { status: { earliestAvailableSlot: ANCHOR_SLOT + 2 } });
    peers.add("middle", history, { status: { earliestAvailableSlot: 15 } });
    peers.add("old", history);
    expect(chain.history.earliestAvailableSlot).toBe(options.withBlock ? ANCHOR_SLOT : ANCHOR_SLOT + 1);

    await walkOf(chain, peers).run();

    expect(await heldSlots(chain)).toEqual([0, ...slotsFrom(FIRST_SLOT, ANCHOR_SLOT)]);
    expect(chain.history.earliestAvailableSlot).toBe(0);
    expect(peers.penalties).toEqual([]);
    expect(peers.ranges.map(({ peerId }) => peerId)).not.toContain("young");
    const tooEarly = ({ peerId, range }: (typeof peers.ranges)[number]) => peerId === "middle" && range.startSlot < 15;
    expect(peers.ranges.filter(tooEarly)).toEqual([]);
    // Backfilled blocks have no states, except for genesis.
    await expect(chain.states.canonicalAtSlot(FIRST_SLOT)).rejects.toThrow("is unavailable");
    expect((await chain.states.canonicalAtSlot(EMPTY_SLOTS))?.slot).toBe(EMPTY_SLOTS);

    const { problems } = await checkChain({ config: chain.config, db, onProgress: () => {} });
    expect(problems).toEqual([]);
    const again = await reopen();
    expect(again.history.end).toBeNull();
    expect(await heldSlots(again)).toEqual([0, ...slotsFrom(FIRST_SLOT, ANCHOR_SLOT)]);
  });

  it("continues after a restart, and ends at the configured epoch", async () => {
    const { chain, reopen } = await openAnchoredAt(ANCHOR_SLOT, source.devChain, { knowsGenesis: false });
    const peers = new FakePeers();
    peers.add("honest", history);
    await walkOf(chain, peers).step();
    expect(chain.history.earliestBlockSlot).toBe(ANCHOR_SLOT - BATCH_SLOTS);

    const again = await reopen();
    expect(again.history.earliestBlockSlot).toBe(ANCHOR_SLOT - BATCH_SLOTS);
    await walkOf(again, peers, { epochs: 1 }).run();
    expect(again.history.earliestBlockSlot).toBe(ANCHOR_SLOT - SLOTS_PER_EPOCH);
    const starts = peers.ranges.map(({ range }) => range.startSlot);
    expect(starts).toEqual([ANCHOR_SLOT - BATCH_SLOTS, ANCHOR_SLOT - 2 * BATCH_SLOTS]);

    // The genesis block is not served, and without its state it is unknown.
    peers.add("other", history);
    const walk = walkOf(again, peers, { batchSlots: FIRST_SLOT });
    await walk.run();
    expect(again.history.earliestBlockSlot).toBe(FIRST_SLOT);
    // Each peer is asked once.
    const requestCounts = () => ({ ranges: peers.ranges.length, roots: peers.roots.length });
    const before = requestCounts();
    walk.letRestersBeAsked();
    await walk.run();
    expect(requestCounts()).toEqual(before);
    peers.add("new", history);
    await walk.run();
    expect(requestCounts()).toEqual({ ranges: before.ranges + 1, roots: before.roots + 1 });
    expect(peers.penalties).toEqual([]);
  });
});

describe("of a peer that", () => {
  const unavailable = () => Promise.reject(new RequestError("refused", "This node holds no blocks.", { code: 3 }));
  const badlySigned = (signed: ServedBlock["signed"]) => ({ ...signed, signature: history[0]!.signed.signature });
  const otherBlock = (signed: ServedBlock["signed"]) => {
    const other = source.devChain.config.getForkTypes(signed.message.slot).SignedBeaconBlock.clone(signed as never);
    other.message.stateRoot = ssz.Root.defaultValue();
    return other as ServedBlock["signed"];
  };

  it.each<[string, NonNullable<Parameters<FakePeers["add"]>[2]>, string[]]>([
    ["has no such old blocks", { byRange: unavailable, byRoot: unavailable }, []],
    ["omits the last block", { byRange: async (blocks) => blocks.slice(0, -1) }, ["moderate"]],
    ["omits the first block", { byRange: async (blocks) => blocks.slice(1) }, ["moderate"]],
    ["omits a block in between", { byRange: async (blocks) => blocks.toSpliced(1, 1) }, ["moderate"]],
    ["serves nothing", { byRange: async () => [] }, ["moderate"]],
    ["serves other blocks", { byRange: async (blocks) => blocks.map(otherBlock) }, ["moderate"]],
    ["serves blocks with invalid signatures", { byRange: async (blocks) => blocks.map(badlySigned) }, ["severe"]],
  ])("%s nothing wrong is taken, and others are asked", async (_, behaviour, penalties) => {
    const { chain } = await openAnchoredAt(ANCHOR_SLOT, source.devChain);
    const peers = new FakePeers();
    peers.add("faulty", history, behaviour);
    peers.add("honest", history);
    await walkOf(chain, peers).run();
    expect(chain.history.end).toBeNull();
    expect(await heldSlots(chain)).toEqual([0, ...slotsFrom(FIRST_SLOT, ANCHOR_SLOT)]);
    expect(peers.penaltiesOf("faulty")).toEqual(penalties);
    expect(peers.penaltiesOf("honest")).toEqual([]);
  });
});

describe("with a history in every slot", () => {
  const LAST_SLOT = 24;

  /** Backfills a history of which only the slots matter, from peers that serve a block for every slot. */
  function walkFrom(before: number) {
    const blocks = slotsFrom(1, LAST_SLOT).map((slot): ServedBlock => {
      const signed = ssz.phase0.SignedBeaconBlock.defaultValue();
      signed.message.slot = slot;
      return { root: rootOf(slot), signed };
    });
    const history = {
      end: { root: rootOf(before - 1), before },
      get earliestBlockSlot() {
        return this.end.before;
      },
      reachesGenesis: async () => false,
      prepend: async (segment: readonly ServedBlock["signed"][]) => {
        const first = segment[0]!.message.slot;
        history.end = { root: rootOf(first - 1), before: first };
      },
    };
    const chain = { history, clock: { currentEpoch: 3 } } as unknown as BeaconChain;
    const peers = new FakePeers();
    return { blocks, peers, ...walkOf(chain, peers) };
  }

  const rootOf = (slot: number) => `0x${slot.toString(16).padStart(64, "0")}`;

  it("a peer that omits only the first slot of its range is penalized", async () => {
    const { peers, blocks, step } = walkFrom(LAST_SLOT);
    peers.add("withholding", blocks, { byRange: async (honest) => honest.slice(1) });
    peers.add("honest", blocks);
    await step();
    expect(peers.penalties).toEqual([]);
    await step();
    expect(peers.ranges.map(({ peerId, range }) => [peerId, range.startSlot])).toEqual([
      ["withholding", LAST_SLOT - BATCH_SLOTS],
      ["honest", LAST_SLOT - 2 * BATCH_SLOTS + 1],
    ]);
    expect(peers.penaltiesOf("withholding")).toEqual(["moderate"]);
    expect(peers.penaltiesOf("honest")).toEqual([]);
  });

  it("a peer whose blocks start where our history starts is skipped", async () => {
    const { peers, blocks, step } = walkFrom(LAST_SLOT);
    peers.add("young", blocks, { status: { earliestAvailableSlot: LAST_SLOT } });
    expect(await step()).toBe(false);
    expect(peers.ranges).toEqual([]);
    peers.add("older by a slot", blocks, { status: { earliestAvailableSlot: LAST_SLOT - 1 } });
    expect(await step()).toBe(true);
    expect(peers.ranges).toEqual([{ peerId: "older by a slot", range: { startSlot: LAST_SLOT - 1, count: 1 } }]);
  });

  const nothing = async () => [];
  const failing = () => Promise.reject(new RequestError("refused", "Not now."));

  it.each([
    ["has no block that must exist", LAST_SLOT, nothing],
    ["fails when the first block is asked for", 3, failing],
  ])("a peer that %s is asked again after a rest", async (_, before, byRoot) => {
    const { peers, blocks, run, letRestersBeAsked } = walkFrom(before);
    peers.add("empty", blocks, { byRange: nothing, byRoot });
    await run();
    expect(peers.ranges).toHaveLength(1);
    letRestersBeAsked();
    await run();
    expect(peers.ranges).toHaveLength(2);
    expect(peers.penalties).toEqual([]);
  });

  it("a peer with nothing before the first block is not asked again", async () => {
    const { peers, blocks, run, letRestersBeAsked } = walkFrom(3);
    peers.add("empty", blocks, { byRange: nothing, byRoot: nothing });
    await run();
    letRestersBeAsked();
    await run();
    expect(peers.ranges).toHaveLength(1);
  });
});
