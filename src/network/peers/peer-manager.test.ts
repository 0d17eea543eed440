import type { Connection } from "@libp2p/interface";
import { multiaddr } from "@multiformats/multiaddr";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PeerNetwork, type TestPeer, type TestPeerOptions } from "../../../test/support/network/peers/peer-network.ts";
import type { StoredBan } from "../../db/repositories/meta-repository.ts";
import { asPubsub } from "../gossip/pubsub.ts";
import { GossipTopics } from "../gossip/topics.ts";
import { PeersView } from "../peers-view.ts";
import { protocolId } from "../reqresp/protocols.ts";
import { GOODBYE } from "./goodbye.ts";
import { addAddress, type KnownPeer } from "./known-peers.ts";

const ids = (peer: TestPeer) => peer.manager.list().map(({ peerId }) => peerId);
const knows = (peer: TestPeer, other: TestPeer) => () => ids(peer).includes(other.id);
const isAlone = (peer: TestPeer) => () => peer.host.getConnections().length === 0;
const stateOf = (peer: TestPeer, other: TestPeer) => peer.manager.known.get(other.id)?.state;
const viewOf = ({ manager }: TestPeer) => new PeersView({ known: manager.known, scores: manager.scores });
const discovered = ({ id, address }: TestPeer) => ({ peerId: id, enr: `enr:of ${id}`, address });

const infoLogs = ({ logger }: TestPeer) =>
  logger.records.flatMap(({ level, message }) => (level === "debug" ? [] : message));

const directions = ({ host }: TestPeer) =>
  host
    .getConnections()
    .map(({ direction }) => direction)
    .sort()
    .join();
const gossipStreams = ({ host }: TestPeer) =>
  Array.from(asPubsub(host.services.pubsub).streamsOutbound.values(), ({ rawStream }) => rawStream.status);

/** Opens another connection, even if the peers are connected. */
const connect = (peer: TestPeer, other: TestPeer) => peer.host.dial(multiaddr(other.address), { force: true });

/** The connection may appear open to the dialing side until the other side refuses it. */
function closed(connection: Connection): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  connection.addEventListener("close", () => resolve());
  if (connection.status !== "open") resolve();
  return promise;
}

describe("PeerManager", () => {
  let network: PeerNetwork;

  beforeEach(() => {
    network = new PeerNetwork();
  });

  afterEach(() => network.close());

  async function connectedPair(): Promise<[TestPeer, TestPeer]> {
    const listener = await network.add();
    const dialler = await network.add({ directPeers: [listener.address] });
    await Promise.all([dialler.until(knows(dialler, listener)), listener.until(knows(listener, dialler))]);
    return [dialler, listener];
  }

  it("dials its direct peers, and both sides report the connection", async () => {
    const [dialler, listener] = await connectedPair();
    const introduced = (peer: TestPeer, other: TestPeer) => () => viewOf(peer).peer(other.id)?.agentVersion !== "";
    await Promise.all([dialler.until(introduced(dialler, listener)), listener.until(introduced(listener, dialler))]);
    expect(viewOf(dialler).peer(listener.id)).toMatchObject({
      state: "connected",
      direction: "outbound",
      lastSeenP2pAddress: listener.address,
      agentVersion: "Test/v1",
      addresses: [listener.address],
      protocols: expect.arrayContaining([expect.stringMatching("^/meshsub/")]),
      score: 0,
    });
    const seen = viewOf(listener).peer(dialler.id);
    expect(seen).toMatchObject({ state: "connected", direction: "inbound", enr: null });
    expect(seen?.lastSeenP2pAddress).toMatch(/^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/16Uiu2/);
    expect(seen?.addresses).toEqual(expect.arrayContaining([dialler.address, seen?.lastSeenP2pAddress]));
    expect(viewOf(listener).peerCounts()).toEqual({ disconnected: 0, connecting: 0, connected: 1, disconnecting: 0 });
    expect(infoLogs(listener)).toEqual(["Peers found"]);

    await dialler.close();
    await listener.until(isAlone(listener));
    expect(listener.goodbyes).toEqual([1n]);
    expect(
      viewOf(listener)
        .peers()
        .map(({ state, direction }) => [state, direction]),
    ).toEqual([["disconnected", "inbound"]]);
    expect(infoLogs(listener)).toEqual(["Peers found", "No peers left"]);
  });

  it("redials a lost direct peer with backoff", async () => {
    const [dialler, listener] = await connectedPair();
    const loseIt = async () => {
      for (const connection of listener.host.getConnections()) connection.abort(new Error("The cable was cut."));
      await Promise.all([dialler.until(isAlone(dialler)), listener.until(isAlone(listener))]);
    };
    await loseIt();
    await dialler.timers.advance(1_000);
    await dialler.until(knows(dialler, listener));
    await loseIt();
    await dialler.timers.advance(1_000);
    expect(stateOf(dialler, listener)).toBe("disconnected");
    await dialler.timers.advance(1_000);
    await dialler.until(knows(dialler, listener));
    await dialler.timers.advance(15_000);
    await loseIt();
    await dialler.timers.advance(1_000);
    await dialler.until(knows(dialler, listener));
  });

  it("defers dials to a node of another network, and lets it reconnect", async () => {
    const stranger = await network.add({ genesis: 9 });
    const node = await network.add();
    node.discover(discovered(stranger));
    await node.until(() => node.host.getConnections().length > 0);
    await Promise.all([node.until(isAlone(node)), stranger.until(isAlone(stranger))]);
    expect([...stranger.goodbyes, ...node.goodbyes]).toContain(2n);
    expect([...ids(node), ...ids(stranger)]).toEqual([]);
    expect(node.manager.scores.allows(stranger.id)).toBe(true);
    await node.timers.advance(9 * 60_000);
    expect(stateOf(node, stranger)).toBe("disconnected");
    await node.timers.advance(60_000);
    expect(stateOf(node, stranger)).toBe("connecting");
  });

  it("redials peers at once that disconnected during a suspension", async () => {
    const [dialler, listener] = await connectedPair();
    const known = await network.add();
    known.discover(discovered(listener));
    await Promise.all([known.until(knows(known, listener)), listener.until(knows(listener, known))]);
    await known.timers.advance(20_000);
    known.manager.onSuspended();
    // A goodbye that was sent in the meantime is read only now.
    known.manager.onGoodbye(listener.id, GOODBYE.fault);
    await known.until(isAlone(known));
    await known.timers.advance(1_000);
    await known.until(knows(known, listener));
    expect(stateOf(dialler, listener)).toBe("connected");
  });

  it("redials its only peer soon after a loss or goodbye, but not after a ban", async () => {
    const other = await network.add();
    const node = await network.add();
    const isDialled = () => ["connecting", "connected"].includes(stateOf(node, other)!);
    node.discover(discovered(other));
    await Promise.all([node.until(knows(node, other)), other.until(knows(other, node))]);
    for (const connection of other.host.getConnections()) connection.abort(new Error("The cable was cut."));
    await Promise.all([node.until(isAlone(node)), other.until(isAlone(other))]);
    await node.timers.advance(10_000);
    expect(isDialled()).toBe(true);
    for (const reason of [GOODBYE.shutdown, GOODBYE.fault, GOODBYE.tooManyPeers, GOODBYE.irrelevantNetwork]) {
      await Promise.all([node.until(knows(node, other)), other.until(knows(other, node))]);
      node.manager.onGoodbye(other.id, reason);
      await Promise.all([node.until(isAlone(node)), other.until(isAlone(other))]);
      await node.timers.advance(29_000);
      expect(isDialled(), `${reason}`).toBe(false);
      await node.timers.advance(1_000);
      expect(isDialled(), `${reason}`).toBe(true);
    }
    await Promise.all([node.until(knows(node, other)), other.until(knows(other, node))]);
    node.manager.onGoodbye(other.id, GOODBYE.banned);
    await Promise.all([node.until(isAlone(node)), other.until(isAlone(other))]);
    await node.timers.advance(29 * 60_000);
    expect(isDialled()).toBe(false);
    await node.timers.advance(60_000);
    await Promise.all([node.until(knows(node, other)), other.until(knows(other, node))]);

    for (let times = 0; times < 4; times++) node.manager.penalize(other.id, "severe", "a test");
    await Promise.all([node.until(isAlone(node)), other.until(isAlone(other))]);
    expect(other.goodbyes).toEqual([GOODBYE.badScore]);
    await node.timers.advance(119_000);
    expect(isDialled()).toBe(false);
    await node.timers.advance(1_000);
    expect(isDialled()).toBe(true);
  });

  it("respects a dial delay while it has enough other peers", async () => {
    const [full, companion] = await Promise.all([network.add(), network.add()]);
    const node = await network.add({ targetPeers: 4 });
    for (const other of [full, companion]) node.discover(discovered(other));
    await node.until(() => ids(node).length === 2);
    node.manager.onGoodbye(full.id, GOODBYE.tooManyPeers);
    await Promise.all([node.until(() => ids(node).length === 1), full.until(isAlone(full))]);
    await node.timers.advance(4 * 60_000);
    expect(stateOf(node, full)).toBe("disconnected");
    await node.timers.advance(60_000);
    await node.until(knows(node, full));
  });

  it("bans a misbehaving peer and refuses its connections", async () => {
    const [dialler, listener] = await connectedPair();
    listener.manager.penalize(dialler.id, "fatal", "a forged block");
    expect(ids(listener)).toEqual([]);
    await Promise.all([dialler.until(isAlone(dialler)), listener.until(isAlone(listener))]);
    expect(dialler.goodbyes).toEqual([251n]);
    expect(viewOf(listener).peer(dialler.id)).toMatchObject({ state: "disconnected", score: -100 });
    const opened: unknown[] = [];
    listener.host.addEventListener("connection:open", (event) => opened.push(event));
    await dialler.host.dial(multiaddr(listener.address)).then(closed, () => {});
    expect(opened).toEqual([]);
  });

  it("stores its bans, and refuses the peers after a restart until they expire", async () => {
    let stored: readonly StoredBan[] = [];
    const store: TestPeerOptions["store"] = {
      restore: () => {},
      async save(_known, bans) {
        stored = bans;
      },
    };
    const offender = await network.add();
    const node = await network.add({ store, directPeers: [offender.address] });
    await node.until(knows(node, offender));
    node.manager.penalize(offender.id, "fatal", "a forged block");
    await node.timers.advance(60_000);
    expect(stored).toEqual([{ peerId: offender.id, address: null, until: expect.any(Number) }]);
    await node.close();

    const again = await network.add({ bans: stored, directPeers: [offender.address] });
    await again.timers.advance(60_000);
    expect(viewOf(again).peer(offender.id)).toMatchObject({ state: "disconnected" });
    expect(again.manager.scores.standing(offender.id)).toBe("banned");
    await again.timers.advance(31 * 60_000);
    await again.until(knows(again, offender));
  });

  it("bans an address when several peers from it are banned", async () => {
    const node = await network.add();
    const offend = (peerId: string) => {
      node.manager.known.touch(peerId).lastSeenAddress = "/ip4/192.0.2.7/tcp/9000";
      node.manager.penalize(peerId, "fatal", "a forged block");
    };
    for (const peerId of ["a", "b", "c", "d"]) offend(peerId);
    expect(infoLogs(node)).toEqual([]);
    offend("e");
    expect(infoLogs(node)).toEqual(["Address banned"]);
    await expect(node.host.dial(multiaddr("/ip4/192.0.2.7/tcp/9000"))).rejects.toThrow(/denied|gater|no valid/i);
  });

  it("dials discovered peers up to its target, and prunes excess peers", async () => {
    const others = await Promise.all([1, 2, 3].map(() => network.add()));
    const node = await network.add({ targetPeers: 1 });
    const [first, ...late] = others as [TestPeer, TestPeer, TestPeer];
    expect(node.searches).toBe(1);
    // Of several peers discovered together, the newest is dialed.
    for (const other of [...late, first]) node.discover(discovered(other));
    await node.until(knows(node, first));
    expect(viewOf(node).peer(first.id)?.enr).toBe(`enr:of ${first.id}`);
    await node.timers.advance(60_000);
    expect(late.map((other) => stateOf(node, other))).toEqual(["disconnected", "disconnected"]);
    expect(node.searches).toBe(1);

    for (const other of late) other.discover(discovered(node));
    await node.until(() => late.every((other) => ids(node).includes(other.id)));
    await node.timers.advance(1_000);
    await node.until(() => node.host.getConnections().length === 1);
    expect(ids(node)).toEqual([first.id]);
    expect(late.map(({ goodbyes }) => goodbyes)).toEqual([[129n], [129n]]);
  });

  it("learns the id of a direct peer, and never connects to itself", async () => {
    const listener = await network.add();
    const directPeers = [listener.address.replace(/\/p2p\/.*/, "")];
    const node = await network.add({ directPeers, dialsItself: true });
    await node.until(knows(node, listener));
    node.discover(discovered(node));
    await node.timers.advance(60_000);
    expect(
      viewOf(node)
        .peers()
        .map(({ peerId, state }) => [peerId, state]),
    ).toEqual([[listener.id, "connected"]]);
  });

  it("stores its peers, and dials them first after a restart", async () => {
    const stored: Pick<KnownPeer, "id" | "lastGoodAt">[] = [];
    const store: TestPeerOptions["store"] = {
      restore: () => {},
      async save(known) {
        stored.splice(0, stored.length, ...known.values());
      },
    };
    const [good, banned, never] = await Promise.all([1, 2, 3].map(() => network.add()));
    const node = await network.add({ store });
    for (const other of [good!, banned!]) node.discover(discovered(other));
    await node.until(() => ids(node).length === 2);
    await never!.close();
    node.discover(discovered(never!));
    await node.timers.advance(60_000);
    expect(stored.map(({ id, lastGoodAt }) => [id, lastGoodAt])).toEqual(
      expect.arrayContaining([
        [good!.id, node.timers.unixNow()],
        [banned!.id, node.timers.unixNow()],
        [never!.id, null],
      ]),
    );
    node.manager.penalize(banned!.id, "fatal", "a forged block");
    await node.close();
    expect(stored.filter(({ lastGoodAt }) => lastGoodAt !== null).map(({ id }) => id)).toEqual([good!.id]);

    const again = await network.add({
      targetPeers: 1,
      store: {
        async save() {},
        restore(known) {
          for (const { id, address } of [banned!, good!]) addAddress(known.touch(id), address);
          known.touch(good!.id).lastGoodAt = 1;
          // Peers that have been discovered since then come later.
          addAddress(known.touch(never!.id), never!.address);
        },
      },
    });
    await again.until(knows(again, good!));
    expect(again.searches).toBe(1);
    expect([stateOf(again, banned!), stateOf(again, never!)]).toEqual(["disconnected", "disconnected"]);
  });

  it("requests ancestors only from peers that support BeaconBlocksByHead", async () => {
    const [able, unable] = (await Promise.all([network.add(), network.add()])) as [TestPeer, TestPeer];
    await able.host.handle(protocolId({ name: "beacon_blocks_by_head", version: 1 }), () => {});
    const asking = await network.add({ directPeers: [able.address, unable.address] });
    await asking.until(() => [able, unable].every(({ id }) => viewOf(asking).peer(id)?.agentVersion));
    const root = `0x${"11".repeat(32)}`;
    await asking.manager.blockWithAncestors(able.id, { root, count: 2 });
    await asking.manager.blockWithAncestors(able.id, { root, count: 1 });
    await asking.manager.blockWithAncestors(unable.id, { root, count: 2 });
    expect([able.lookups, unable.lookups]).toEqual([["with ancestors", "alone"], ["alone"]]);
  });

  it("keeps the older inbound connection while the peer answers on it", async () => {
    const [dialler, listener] = await connectedPair();
    const [first] = listener.host.getConnections();
    await closed(await connect(dialler, listener));
    await listener.until(() => listener.host.getConnections().length === 1);
    expect(listener.host.getConnections()).toEqual([first]);
    expect(knows(listener, dialler)()).toBe(true);
  });

  it("replaces a dead connection by a new one of the same peer", async () => {
    const [dialler, listener] = await connectedPair();
    const [first] = listener.host.getConnections() as [Connection];
    vi.spyOn(first, "newStream").mockReturnValue(new Promise(() => {}));
    await connect(dialler, listener);
    await listener.until(() => listener.host.getConnections().length === 2);
    const second = listener.host.getConnections().find((connection) => connection !== first);
    await closed(await connect(dialler, listener));
    await listener.timers.advance(3_000);

    await closed(first);
    await listener.until(() => listener.host.getConnections().length === 1);
    expect(listener.host.getConnections()).toEqual([second]);
    expect(knows(listener, dialler)()).toBe(true);
    expect(viewOf(listener).peer(dialler.id)).toMatchObject({ state: "connected", direction: "inbound" });
    expect([...dialler.goodbyes, ...listener.goodbyes]).toEqual([]);
  });

  it.each([
    ["at once", (one: TestPeer, other: TestPeer) => Promise.all([connect(one, other), connect(other, one)])],
    [
      "one after the other",
      async (one: TestPeer, other: TestPeer) => {
        await connect(one, other);
        await Promise.all([one.until(knows(one, other)), other.until(knows(other, one))]);
        await vi.waitFor(() => expect([one, other].map(gossipStreams)).toEqual([["open"], ["open"]]));
        await connect(other, one);
      },
    ],
  ])("keeps a peer and its gossip after both dialed %s and either connection is closed", async (_, dial) => {
    const [one, other] = (await Promise.all([network.add(), network.add()])) as [TestPeer, TestPeer];
    const peers = [one, other];
    const { name: topic } = [...new GossipTopics(one.chain.config).all()][0]!;
    for (const { host } of peers) host.services.pubsub.subscribe(topic);
    const untilGossiping = () =>
      vi.waitFor(() => {
        expect(peers.map(gossipStreams)).toEqual([["open"], ["open"]]);
        expect(peers.map(({ host }) => host.services.pubsub.getSubscribers(topic).length)).toEqual([1, 1]);
      });
    await dial(one, other);
    await Promise.all([
      one.until(() => directions(one) === "inbound,outbound" && knows(one, other)()),
      other.until(() => directions(other) === "inbound,outbound" && knows(other, one)()),
    ]);
    await untilGossiping();

    // Gossip may use either of the connections.
    for (const direction of ["inbound", "outbound"] as const) {
      await one.host
        .getConnections()
        .find((connection) => connection.direction === direction)
        ?.close();
      const [left, opposite] = direction === "inbound" ? ["outbound", "inbound"] : ["inbound", "outbound"];
      await Promise.all([one.until(() => directions(one) === left), other.until(() => directions(other) === opposite)]);
      expect(viewOf(one).peer(other.id)).toMatchObject({ state: "connected", direction: left });
      expect(viewOf(other).peer(one.id)).toMatchObject({ state: "connected", direction: opposite });
      await untilGossiping();
      await (direction === "inbound" ? connect(other, one) : connect(one, other));
      await Promise.all(peers.map((peer) => peer.until(() => directions(peer) === "inbound,outbound")));
    }
    expect(peers.flatMap(({ goodbyes }) => goodbyes)).toEqual([]);
  });
});
