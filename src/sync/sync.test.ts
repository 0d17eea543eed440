import { setImmediate as nextTurn } from "node:timers/promises";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { beforeAll, describe, expect, it } from "vitest";
import { startQuietDevChain } from "../../test/support/chain/dev-chain.ts";
import { FakePeers, type ServedBlock } from "../../test/support/sync/fake-peers.ts";
import { blocksOf, GENESIS_TIME, growBranch, openFollower, untilHead } from "../../test/support/sync/history.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";

const SLOTS = 20;
/** Far behind in slots, although less than three minutes behind on a dev chain. */
const FAR = 71;
/** From this slot on, attestations made from genesis could surround those of a justified chain. */
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

/** Returns a status whose head the peer does not serve. */
const claimOf = (headSlot: number, mark = 0xee) => ({ headSlot, headRoot: new Uint8Array(32).fill(mark) });

/** Opens a node that has synced the whole history from an honest peer, up to the current slot. */
async function openSynced(peers: FakePeers) {
  peers.add("honest", history);
  const follower = await openFollower(peers, SLOTS);
  follower.sync.start();
  await follower.sync.whenSynced();
  return follower;
}

describe("a node far behind the clock is not synced", () => {
  it("when it has lost all its peers; its distance is that of its head from the clock", async () => {
    const peers = new FakePeers();
    const { sync, clock, chain } = await openSynced(peers);
    expect([sync.state, chain.status.isSyncing, chain.status.syncDistance]).toEqual(["synced", false, 0]);

    peers.remove("honest");
    await clock.advanceTo(SLOTS + 1);
    // The current slot may not have a block yet.
    expect([sync.state, chain.status.syncDistance]).toEqual(["synced", 1]);
    await clock.advanceTo(SLOTS + 2);
    expect([sync.state, chain.status.isSyncing, chain.status.syncDistance]).toEqual(["waiting for peers", true, 2]);
    await clock.advanceTo(SLOTS + FAR);
    expect([sync.state, chain.status.isSyncing, chain.status.syncDistance]).toEqual(["waiting for peers", true, FAR]);
  });

  it("when the head that its only peer claims is not served, nor during the backoff", async () => {
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

  it("when its peers report that they are behind it", async () => {
    const peers = new FakePeers();
    const { sync } = await openFollower(peers, FAR, { has: known });
    sync.start();
    peers.add("behind", known.slice(0, 4));
    expect(sync.state).toBe("syncing");
    peers.add("at the beginning", []);
    peers.add("on an unavailable branch", [], { status: claimOf(3) });
    await peers.untilQuiet();
    expect(sync.state).toBe("syncing");
  });
});

describe("in a stalled network a node is synced", () => {
  it("as soon as its peers report its head", async () => {
    const peers = new FakePeers();
    const { sync, chain } = await openFollower(peers, FAR, { has: known });
    sync.start();
    expect(sync.state).toBe("waiting for peers");
    peers.add("honest", known);
    expect([sync.state, chain.status.isSyncing]).toEqual(["synced", false]);
    expect(chain.status.syncDistance).toBe(FAR - known.length);
  });

  it("for any duration while peers are connected", async () => {
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

  it.each([
    ["claims a head that it does not give", claimOf(FAR - 1)],
    ["claims finality that it does not show", { ...claimOf(FAR - 1), finalizedEpoch: 5, finalizedRoot: NOWHERE }],
    ["says that it is behind", { headSlot: 0 }],
  ])("although a peer %s, before and after", async (_, status) => {
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

  it("when peers prefer another head that it has too", async () => {
    const peers = new FakePeers();
    const { sync, chain, devChain } = await openFollower(peers, FAR, { has: known });
    const branch = await growBranch(devChain, known[3]!.root, { from: 8, to: 14 });
    const [longer, shorter] = chain.head.root === branch.at(-1)!.root ? [branch, known] : [known, branch];
    sync.start();
    peers.add("on the other branch", shorter);
    expect(chain.head.root).toBe(longer.at(-1)!.root);
    // The node with the lower head knows all of the other node's blocks and continues.
    expect(sync.isSyncing).toBe(shorter.at(-1)!.signed.message.slot < chain.head.slot);
  });
});

describe("nodes at genesis", () => {
  async function openFresh(slot: number, horizonSlots?: number) {
    const peers = new FakePeers();
    const follower = await openFollower(peers, slot, { horizonSlots });
    const headRoot = Buffer.from(follower.chain.head.root.slice(2), "hex");
    follower.sync.start();
    peers.add("as fresh", [], { status: { headRoot } });
    return { ...follower, peers };
  }
  const warnings = (log: readonly string[]) => log.filter((line) => line.includes("WARN"));

  it("start the chain when they are a little late, however long it takes", async () => {
    const { sync, clock, log } = await openFresh(YOUNG_SLOTS - 1);
    expect(sync.state).toBe("synced");
    await clock.advanceTo(FAR);
    await nextTurn();
    expect(sync.state).toBe("synced");
    expect(warnings(log)).toEqual([]);
  });

  it("do not start a second chain when they are late, warn, and follow a peer that has the chain", async () => {
    const { sync, clock, chain, peers, log } = await openFresh(YOUNG_SLOTS);
    expect([sync.state, chain.status.isSyncing]).toEqual(["syncing", true]);
    await clock.advanceTo(FAR);
    await nextTurn();
    expect(sync.state).toBe("syncing");
    expect(warnings(log)).toEqual([expect.stringMatching(/initial state.*--peer.*--sync-horizon.* behind=32/)]);
    peers.add("of the chain", known);
    await sync.whenSynced();
    expect(chain.head.root).toBe(known.at(-1)!.root);
  });

  it("start the chain late with --sync-horizon", async () => {
    const { sync, log } = await openFresh(FAR, FAR);
    expect(sync.state).toBe("synced");
    expect(warnings(log)).toEqual([]);
  });
});

describe("a node that has just joined", () => {
  it("is synced at the best head of its peers, not a few slots behind", async () => {
    const peers = new FakePeers();
    const { sync, chain } = await openFollower(peers, SLOTS, { has: history.slice(0, SLOTS - 3) });
    const { promise: giving, resolve: give } = Promise.withResolvers<void>();
    const byRange = async (blocks: Awaited<ReturnType<SyncPeers["requests"]["blocksByRange"]>>) => {
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

  it("ignores statuses from before it caught up", async () => {
    const peers = new FakePeers();
    peers.add("honest", known);
    const { sync, chain } = await openFollower(peers, SLOTS);
    peers.refreshStatus = (peerId) => void peers.refreshed.push(peerId);
    sync.start();
    await untilHead(chain, known.at(-1)!.root);
    await peers.untilQuiet();
    expect(sync.state).toBe("syncing");
    expect(peers.refreshed).toContain("honest");
    // The peer has advanced in the meantime.
    peers.add("honest", history);
    await sync.whenSynced();
    expect(chain.head.slot).toBe(SLOTS);
  });
});

describe("a node level with the clock stays synced", () => {
  const claims = [
    claimOf(SLOTS + 3),
    claimOf(SLOTS + 1, 0xcc),
    { finalizedEpoch: 2, finalizedRoot: NOWHERE },
    { headSlot: 0 },
  ];

  it.each([
    ["its only peer", SLOTS + 1, []],
    ["one of two peers, after a few empty slots", SLOTS + 3, ["honest"]],
  ])("regardless of what %s claims", async (_, slot, others) => {
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

  it("unless a majority of several peers has another chain", async () => {
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

it("a suspended node is synced again only after a peer confirms its head", async () => {
  const peers = new FakePeers();
  const { sync, clock, chain } = await openSynced(peers);
  // The connection appears to be open but is dead.
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

it("the summary is logged for fetched slots, and not when peers only confirm the head", async () => {
  const peers = new FakePeers();
  const { sync, clock, log } = await openSynced(peers);
  peers.remove("honest");
  await clock.advanceTo(SLOTS + 2);
  peers.add("honest", history.slice(0, 4));
  expect(sync.state).toBe("syncing");
  peers.add("honest", history);
  expect(sync.state).toBe("synced");
  const logs = log.filter((line) => line.includes(" Synced ")).map((line) => /slots=\d+/.exec(line)?.[0]);
  expect(logs).toEqual([`slots=${SLOTS}`, undefined]);
});

it("the summary covers all runs of a sync", async () => {
  const peers = new FakePeers();
  const { sync, chain, log } = await openFollower(peers, SLOTS);
  sync.start();
  peers.add("with less than it claims", known, { status: claimOf(SLOTS) });
  await untilHead(chain, known.at(-1)!.root);
  await peers.untilQuiet();
  expect(sync.state).toBe("syncing");
  peers.add("honest", history);
  await sync.whenSynced();
  const logs = log.filter((line) => line.includes(" Synced ")).map((line) => /slots=\d+/.exec(line)?.[0]);
  expect(logs).toEqual([`slots=${SLOTS}`]);
});

it("the sync becomes idle after the ranges are fetched, and notifies listeners", async () => {
  const peers = new FakePeers();
  peers.add("honest", history);
  const { sync, chain } = await openFollower(peers, SLOTS);
  const seen: string[] = [];
  sync.onChange((state) => seen.push(`${state}, ${sync.isIdle ? "at rest" : "busy"}`));
  const rest = Promise.withResolvers<void>();
  sync.onIdle(() => {
    seen.push("idle");
    rest.resolve();
  });
  sync.start();
  await rest.promise;
  expect(sync.isIdle).toBe(true);
  expect(chain.head.root).toBe(history.at(-1)!.root);
  expect(seen).toEqual(["syncing, busy", "synced, busy", "idle"]);
});
