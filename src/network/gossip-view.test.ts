import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PeerNetwork, type TestPeer } from "../../test/support/network/peers/peer-network.ts";
import { asPubsub } from "./gossip/pubsub.ts";
import { GossipView } from "./gossip-view.ts";

const viewOf = ({ host, manager }: TestPeer) =>
  new GossipView({ gossip: asPubsub(host.services.pubsub), known: manager.known });

/** Resolves when the peer has a mesh peer on the topic. */
function meshed({ host }: TestPeer, topic: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { pubsub } = host.services;
  const look = () => {
    if ((asPubsub(pubsub).mesh.get(topic)?.size ?? 0) > 0) resolve();
  };
  pubsub.addEventListener("gossipsub:graft", () => setImmediate(look));
  look();
  return promise;
}

describe("GossipView", () => {
  const network = new PeerNetwork();
  let dialler: TestPeer;
  let listener: TestPeer;
  let shared: string;
  let unshared: string;

  beforeAll(async () => {
    listener = await network.add();
    const { config } = listener.chain;
    const digest = config.forkBoundary2ForkDigestHex(config.getForkBoundaryAtEpoch(0));
    shared = `/eth2/${digest}/beacon_block/ssz_snappy`;
    unshared = `/eth2/${digest}/voluntary_exit/ssz_snappy`;
    listener.host.services.pubsub.subscribe(shared);
    listener.host.services.pubsub.subscribe(unshared);
    dialler = await network.add({ directPeers: [listener.address] });
    dialler.host.services.pubsub.subscribe(shared);
    await Promise.all([meshed(dialler, shared), meshed(listener, shared)]);
    await dialler.until(() => dialler.manager.known.get(listener.id)?.agentVersion !== "");
  });

  afterAll(() => network.close());

  it("lists the subscribed peers and the mesh peers of each topic", () => {
    const { gossipsub, mesh } = viewOf(dialler).gossipPeers();
    const idsIn = (topics: typeof mesh) =>
      Object.fromEntries(Object.entries(topics).map(([topic, peers]) => [topic, peers.map(({ peerId }) => peerId)]));
    expect(idsIn(gossipsub)).toEqual({ [shared]: [listener.id], [unshared]: [listener.id] });
    expect(idsIn(mesh)).toEqual({ [shared]: [listener.id] });
    expect(mesh[shared]).toEqual(gossipsub[shared]);
    expect(viewOf(listener).gossipPeers().gossipsub[unshared]).toEqual([]);
  });

  it("reports score and stream state of each peer", () => {
    expect(viewOf(dialler).gossipPeers().mesh[shared]).toEqual([
      {
        peerId: listener.id,
        score: expect.any(Number),
        iWantBudget: 10,
        iHaveBudget: 10,
        outbound: true,
        appScore: 0,
        behaviourPenalty: 0,
        sendConnAvail: true,
        closed: false,
        atEof: false,
        address: listener.address,
        backoff: "0s",
        agent: "Test/v1",
      },
    ]);
    expect(viewOf(listener).gossipPeers().mesh[shared]).toMatchObject([{ peerId: dialler.id, outbound: false }]);
  });

  it("reports the remaining graft backoff", () => {
    const gossip = asPubsub(dialler.host.services.pubsub);
    const now = 1_700_000_000_000;
    const view = new GossipView({
      gossip: Object.assign(Object.create(gossip), {
        backoff: new Map([[shared, new Map([[listener.id, now + 90_500]])]]),
        iwantCounts: new Map([[listener.id, 3]]),
        peerhave: new Map([[listener.id, 12]]),
      }),
      known: dialler.manager.known,
      timers: { unixNow: () => now },
    });
    const { gossipsub } = view.gossipPeers();
    expect(gossipsub[shared]).toMatchObject([{ backoff: "1m30s500ms", iWantBudget: 7, iHaveBudget: 0 }]);
    expect(gossipsub[unshared]).toMatchObject([{ backoff: "0s" }]);
  });

  it("keeps the statistics of a disconnected peer", async () => {
    const before = viewOf(listener).gossipPeers();
    expect(before.colocationPeers).toEqual([{ "127.0.0.1": [dialler.id] }]);
    expect(before.peerStats).toMatchObject([{ peerId: dialler.id, null: false, connected: true, expire: "0s" }]);
    expect(before.allPeers).toEqual([{ peerId: dialler.id, connected: true }]);
    // After a disconnect, gossipsub retains only bad scores.
    asPubsub(listener.host.services.pubsub).score.peerStats.get(dialler.id)!.behaviourPenalty = 10;
    await dialler.close();
    await listener.until(() => listener.host.getConnections().length === 0);
    const { peerStats, allPeers, mesh } = viewOf(listener).gossipPeers();
    expect(peerStats).toMatchObject([{ peerId: dialler.id, null: true, connected: false }]);
    expect(peerStats[0]?.expire).toMatch(/^(\d+(d|h|m|s|ms))+$/);
    expect(allPeers).toEqual([]);
    expect(mesh[shared]).toEqual([]);
  });
});
