import { setImmediate as nextTurn } from "node:timers/promises";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { beforeAll, describe, expect, test } from "vitest";
import { startQuietDevChain } from "../../test/support/dev-chain.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import { FakePeers, type ServedBlock } from "./fake-peers.test-support.ts";
import { blocksOf, GENESIS_TIME, growBranch, openFollower, untilHead } from "./history.test-support.ts";

const SLOTS = 20;
/** Far behind, at the length of a dev chain's slots less than three minutes. */
const FAR = 71;
/** From then on, votes from genesis could surround those of a chain that was justified. */
const YOUNG_SLOTS = 4 * SLOTS_PER_EPOCH;

let history: ServedBlock[];
let known: ServedBlock[];

beforeAll(async () => {
  const { devChain, close } = await startQuietDevChain(SLOTS, { genesisTime: GENESIS_TIME });
  history = await blocksOf(devChain);
  known = history.slice(0, 10);
  await close();
});

const NOWHERE = new Uint8Array(32).fill(0xee);

/** Tells of a head that it does not give. */
const claimOf = (headSlot: number, mark = 0xee) => ({ headSlot, headRoot: new Uint8Array(32).fill(mark) });

/** A node that follows the whole history, which ends at the current slot, with the help of an honest peer. */
async function openSynced(peers: FakePeers) {
  peers.add("honest", history);
  const follower = await openFollower(peers, SLOTS);
  follower.sync.start();
  await follower.sync.whenSynced();
  return follower;
}

describe("a node far behind the clock is not synced", () => {
  test("when it lost all its peers; its distance is that of its head from the clock", async () => {
    const peers = new FakePeers();
    const { sync, clock, chain } = await openSynced(peers);
    expect([sync.state, chain.status.isSyncing, chain.status.syncDistance]).toEqual(["synced", false, 0]);

    peers.remove("honest");
    await clock.advanceTo(SLOTS + 1);
    // The slot that has just begun need not have a block yet.
    expect([sync.state, chain.status.syncDistance]).toEqual(["synced", 1]);
    await clock.advanceTo(SLOTS + 2);
    expect([sync.state, chain.status.isSyncing, chain.status.syncDistance]).toEqual(["waiting for peers", true, 2]);
    await clock.advanceTo(SLOTS + FAR);
    expect([sync.state, chain.status.isSyncing, chain.status.syncDistance]).toEqual(["waiting for peers", true, FAR]);
  });

  test("when nobody gives the head that its only peer claims, neither then nor in the pause after it", async () => {
    const peers = new FakePeers();
    peers.add("liar", [], { status: claimOf(FAR) });
    const { sync, clock, chain } = await openFollower(peers, FAR, { has: known });
    sync.start();
    expect(sync.isSyncing).toBe(true);
    await peers.untilQuiet();
    expect(peers.penaltiesOf("liar")).toEqual(["moderate"]);
    expect([sync.state, chain.status.isSyncing]).toEqual(["syncing", true]);
    await clock.advanceTo(FAR + 1);
    expect([sync.state, chain.status.syncDistance]).toEqual(["syncing", FAR + 1 - known.length]);
  });

  test("when its peers say that they are behind it", async () => {
    const peers = new FakePeers();
    const { sync } = await openFollower(peers, FAR, { has: known });
    sync.start();
    peers.add("behind", known.slice(0, 4));
    expect(sync.state).toBe("syncing");
    peers.add("at the beginning", []);
    peers.add("on a branch that nobody gives", [], { status: claimOf(3) });
    await peers.untilQuiet();
    expect(sync.state).toBe("syncing");
  });
});

describe("in a network that stood still a node is synced", () => {
  test("as soon as its peers tell the head that it has", async () => {
    const peers = new FakePeers();
    const { sync, chain } = await openFollower(peers, FAR, { has: known });
    sync.start();
    expect(sync.state).toBe("waiting for peers");
    peers.add("honest", known);
    expect([sync.state, chain.status.isSyncing]).toEqual(["synced", false]);
    expect(chain.status.syncDistance).toBe(FAR - known.length);
  });

  test("for as long as it may last, while peers are there", async () => {
    const peers = new FakePeers();
    const { sync, clock } = await openSynced(peers);
    const states: string[] = [];
    sync.onChange((state) => states.push(state));
    for (let slot = SLOTS + 1; slot <= SLOTS + FAR; slot++) {
      await clock.advanceTo(slot);
      await nextTurn();
    }
    expect(states).toEqual([]);
    peers.remove("honest");
    expect(states).toEqual(["waiting for peers"]);
  });

  test.each([
    ["claims a head that it does not give", claimOf(FAR - 1)],
    ["claims finality that it does not show", { ...claimOf(FAR - 1), finalizedEpoch: 5, finalizedRoot: NOWHERE }],
    ["says that it is behind", { headSlot: 0 }],
  ])("though a peer %s, before and after", async (_, status) => {
    const peers = new FakePeers();
    peers.add("liar", [], { status });
    const { sync } = await openFollower(peers, FAR, { has: known });
    sync.start();
    await peers.untilQuiet();
    expect(sync.isSyncing).toBe(true);
    peers.add("honest", known);
    expect(sync.isSyncing).toBe(false);

    const states: string[] = [];
    sync.onChange((state) => states.push(state));
    peers.remove("liar");
    peers.add("another liar", [], { status: { ...status, headRoot: new Uint8Array(32).fill(0xdd) } });
    await peers.untilQuiet();
    expect(states).toEqual([]);
  });

  test("when peers hold another head for the best that it has as well", async () => {
    const peers = new FakePeers();
    const { sync, chain, devChain } = await openFollower(peers, FAR, { has: known });
    const branch = await growBranch(devChain, known[3]!.root, { from: 8, to: 14 });
    const [longer, shorter] = chain.head.root === branch.at(-1)!.root ? [branch, known] : [known, branch];
    sync.start();
    peers.add("on the other branch", shorter);
    expect(chain.head.root).toBe(longer.at(-1)!.root);
    // Whoever has the lower head knows that the other has nothing that it lacks, and goes on.
    expect(sync.isSyncing).toBe(shorter.at(-1)!.signed.message.slot < chain.head.slot);
  });
});

describe("nodes that hold nothing but genesis", () => {
  async function openFresh(slot: number, horizonSlots?: number) {
    const peers = new FakePeers();
    const follower = await openFollower(peers, slot, { horizonSlots });
    const headRoot = Buffer.from(follower.chain.head.root.slice(2), "hex");
    follower.sync.start();
    peers.add("as fresh", [], { status: { headRoot } });
    return { ...follower, peers };
  }
  const warnings = (log: readonly string[]) => log.filter((line) => line.includes("WARN"));

  test("begin the chain when they come a little late, and try on for as long as it takes", async () => {
    const { sync, clock, log } = await openFresh(YOUNG_SLOTS - 1);
    expect(sync.state).toBe("synced");
    await clock.advanceTo(FAR);
    await nextTurn();
    expect(sync.state).toBe("synced");
    expect(warnings(log)).toEqual([]);
  });

  test("do not begin a second one when they come late, say why, and follow whoever has the chain", async () => {
    const { sync, clock, chain, peers, log } = await openFresh(YOUNG_SLOTS);
    expect([sync.state, chain.status.isSyncing]).toEqual(["syncing", true]);
    await clock.advanceTo(FAR);
    await nextTurn();
    expect(sync.state).toBe("syncing");
    expect(warnings(log)).toEqual([expect.stringMatching(/no block since then.*--peer.*--sync-horizon.* behind=32/)]);
    peers.add("of the chain", known);
    await sync.whenSynced();
    expect(chain.head.root).toBe(known.at(-1)!.root);
  });

  test("begin the chain late when they are told to", async () => {
    const { sync, log } = await openFresh(FAR, FAR);
    expect(sync.state).toBe("synced");
    expect(warnings(log)).toEqual([]);
  });
});

describe("a node that just joined", () => {
  test("is synced when it is level with the best head of its peers, not when it is a few slots behind", async () => {
    const peers = new FakePeers();
    const { sync, chain } = await openFollower(peers, SLOTS, { has: history.slice(0, SLOTS - 3) });
    const { promise: giving, resolve: give } = Promise.withResolvers<void>();
    const byRange = async (blocks: Awaited<ReturnType<SyncPeers["blocksByRange"]>>) => {
      await giving;
      return blocks;
    };
    peers.add("as far as we are", history.slice(0, SLOTS - 3));
    peers.add("honest", history, { byRange });
    sync.start();
    await nextTurn();
    expect([sync.state, chain.status.syncDistance]).toEqual(["syncing", 3]);
    give();
    await sync.whenSynced();
    expect(chain.head.slot).toBe(SLOTS);
  });

  test("does not go by what peers told before it had caught up with that", async () => {
    const peers = new FakePeers();
    peers.add("honest", known);
    const { sync, chain } = await openFollower(peers, SLOTS);
    peers.refreshStatus = (peerId) => void peers.refreshed.push(peerId);
    sync.start();
    await untilHead(chain, known.at(-1)!.root);
    await peers.untilQuiet();
    expect(sync.state).toBe("syncing");
    expect(peers.refreshed).toContain("honest");
    // It went on meanwhile.
    peers.add("honest", history);
    await sync.whenSynced();
    expect(chain.head.slot).toBe(SLOTS);
  });
});

describe("a node that is level with the clock stays synced", () => {
  const claims = [
    claimOf(SLOTS + 3),
    claimOf(SLOTS + 1, 0xcc),
    { finalizedEpoch: 2, finalizedRoot: NOWHERE },
    { headSlot: 0 },
  ];

  test.each([
    ["its only peer", SLOTS + 1, []],
    ["one of two peers, after a few empty slots", SLOTS + 3, ["honest"]],
  ])("whatever %s claims", async (_, slot, others) => {
    const peers = new FakePeers();
    const { sync, clock } = await openSynced(peers);
    const states: string[] = [];
    sync.onChange((state) => states.push(state));
    if (!others.includes("honest")) peers.remove("honest");
    await clock.advanceTo(slot);
    for (const status of claims) {
      peers.add("liar", [], { status });
      await peers.untilQuiet();
    }
    expect(states).toEqual([]);
  });

  test("unless most of several peers have another chain", async () => {
    const peers = new FakePeers();
    const { sync } = await openSynced(peers);
    const states: string[] = [];
    sync.onChange((state) => states.push(state));
    const status = { finalizedEpoch: 2, finalizedRoot: NOWHERE };
    peers.add("one", [], { status });
    expect(states).toEqual([]);
    peers.add("two", [], { status });
    await peers.untilQuiet();
    peers.add("three", [], { status: { ...status, finalizedRoot: new Uint8Array(32).fill(0xbb) } });
    expect(sync.isSyncing).toBe(false);
    peers.add("four", [], { status: { ...status, finalizedRoot: new Uint8Array(32).fill(0xbb) } });
    expect(states.length).toBeGreaterThan(0);
  });
});

test("a node that was suspended is synced again only when a peer confirms its head anew", async () => {
  const peers = new FakePeers();
  const { sync, clock, chain } = await openSynced(peers);
  // The connection still seems to be there, but nothing comes over it.
  peers.refreshStatus = (peerId) => void peers.refreshed.push(peerId);
  peers.refreshed.length = 0;
  sync.onSuspended();
  expect(peers.refreshed).toEqual(["honest"]);
  clock.moveTo(SLOTS + 5);
  await clock.advanceTo(SLOTS + 6);
  expect([sync.state, chain.status.isSyncing]).toEqual(["syncing", true]);
  peers.remove("honest");
  expect(sync.state).toBe("waiting for peers");
  peers.add("honest", history);
  expect(sync.state).toBe("synced");
});

test("how fast it was is told of what was fetched, and not again when peers only confirm the head", async () => {
  const peers = new FakePeers();
  const { sync, clock, log } = await openSynced(peers);
  peers.remove("honest");
  await clock.advanceTo(SLOTS + 2);
  peers.add("honest", history.slice(0, 4));
  expect(sync.state).toBe("syncing");
  peers.add("honest", history);
  expect(sync.state).toBe("synced");
  const told = log.filter((line) => line.includes(" Synced ")).map((line) => /slots=\d+/.exec(line)?.[0]);
  expect(told).toEqual([`slots=${SLOTS}`, undefined]);
});

test("all that was fetched since the sync began is told, also where it came in several stretches", async () => {
  const peers = new FakePeers();
  const { sync, chain, log } = await openFollower(peers, SLOTS);
  sync.start();
  peers.add("with less than it claims", known, { status: claimOf(SLOTS) });
  await untilHead(chain, known.at(-1)!.root);
  await peers.untilQuiet();
  expect(sync.state).toBe("syncing");
  peers.add("honest", history);
  await sync.whenSynced();
  const told = log.filter((line) => line.includes(" Synced ")).map((line) => /slots=\d+/.exec(line)?.[0]);
  expect(told).toEqual([`slots=${SLOTS}`]);
});

test("a node comes to rest when the ranges are fetched, which may be after it is synced, and whoever waits for it is told", async () => {
  const peers = new FakePeers();
  peers.add("honest", history);
  const { sync, chain } = await openFollower(peers, SLOTS);
  const seen: string[] = [];
  sync.onChange((state) => seen.push(`${state}, ${sync.isAtRest ? "at rest" : "busy"}`));
  const rest = Promise.withResolvers<void>();
  sync.onRest(() => {
    seen.push("told of rest");
    rest.resolve();
  });
  sync.start();
  await rest.promise;
  expect(sync.isAtRest).toBe(true);
  expect(chain.head.root).toBe(history.at(-1)!.root);
  expect(seen).toEqual(["syncing, busy", "synced, busy", "told of rest"]);
});
