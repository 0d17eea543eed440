import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { tempDirectory } from "../../../test/support/directories/temp-directory.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { openDatabase } from "../../db/open-database.ts";
import { addAddress, KnownPeers } from "./known-peers.ts";
import { PeerStore } from "./peer-store.ts";

async function emptyDatabase() {
  const db = await openDatabase(join(tempDirectory(), "beacon-db"), { sync: false });
  onTestFinished(() => db.close());
  return db;
}

const NO_LOGGER = createRecordingLogger();

/** Returns the peers known after a restart, newest last. */
async function restored(db: Awaited<ReturnType<typeof emptyDatabase>>) {
  const known = new KnownPeers();
  (await PeerStore.open(db, NO_LOGGER)).restore(known);
  return [...known.values()];
}

it("good dialable peers are stored with the time they were last good", async () => {
  const db = await emptyDatabase();
  const known = new KnownPeers();
  for (const [id, lastGoodAt, address] of [
    ["recent", 3_000, "/ip4/192.0.2.1/tcp/9000"],
    ["older", 2_000, "/ip4/192.0.2.2/tcp/9000"],
    ["never good", null, "/ip4/192.0.2.3/tcp/9000"],
    ["without an address", 1_000, undefined],
  ] as const) {
    const peer = known.touch(id);
    peer.lastGoodAt = lastGoodAt;
    peer.enr = `enr:of ${id}`;
    if (address !== undefined) addAddress(peer, address);
  }
  expect(await restored(db)).toEqual([]);
  await (await PeerStore.open(db, NO_LOGGER)).save(known, []);
  expect(await restored(db)).toMatchObject([
    { id: "older", state: "disconnected", lastGoodAt: 2_000, enr: "enr:of older" },
    { id: "recent", addresses: new Set(["/ip4/192.0.2.1/tcp/9000"]), lastGoodAt: 3_000 },
  ]);
});

it("storage is bounded: the most recently good peers stay, with their newest addresses", async () => {
  const db = await emptyDatabase();
  const known = new KnownPeers();
  for (let number = 0; number < 500; number++) {
    const peer = known.touch(String(number));
    peer.lastGoodAt = number;
    for (let port = 1; port <= 8; port++) addAddress(peer, `/ip4/192.0.2.1/tcp/${port}`);
  }
  await (await PeerStore.open(db, NO_LOGGER)).save(known, []);
  const peers = await restored(db);
  expect(peers.length).toBeLessThanOrEqual(200);
  expect(peers.at(-1)!.id).toBe("499");
  expect(peers.at(0)!.id).toBe(String(500 - peers.length));
  const { addresses } = peers[0]!;
  expect(addresses.size).toBeLessThan(8);
  expect([...addresses].at(-1)).toBe("/ip4/192.0.2.1/tcp/8");
});

it("bans are stored with their expiry", async () => {
  const db = await emptyDatabase();
  const bans = [
    { peerId: "a", address: "192.0.2.1", until: 5_000 },
    { peerId: "b", address: null, until: 6_000 },
  ];
  await (await PeerStore.open(db, NO_LOGGER)).save(new KnownPeers(), bans);
  expect((await PeerStore.open(db, NO_LOGGER)).bans).toEqual(bans);
});

it.each(["{", "{}", "[null]", '[{"peerId":1}]', '[{"peerId":"a","address":null,"until":"soon"}]'])(
  "unreadable peers and bans are ignored with a warning: %s",
  async (text) => {
    const logger = createRecordingLogger();
    const read = async () => JSON.parse(text);
    const store = await PeerStore.open(
      { meta: { getPeers: read, getBans: read }, batch: () => {} } as unknown as Parameters<typeof PeerStore.open>[0],
      logger,
    );
    expect([store.peers, store.bans]).toEqual([[], []]);
    expect(logger.records.filter(({ level }) => level === "warn")).toHaveLength(2);
  },
);
