import { beforeAll, describe, expect, it } from "vitest";
import { type Api, createApi } from "../../../src/api/api.ts";
import { createMethodTable } from "../../../src/api/bound-methods.ts";
import { Caller } from "../../support/api/caller.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../support/api/fake-chain.ts";
import { CONNECTED_IN, CONNECTED_OUT, networkWith, PEERS } from "../../support/api/peers.ts";
import { openDevChain, QUIET } from "../../support/chain/dev-chain.ts";

let api: Api;
let caller: Caller;
beforeAll(() => {
  const chain = createFakeChain();
  const network = networkWith(PEERS, fakeNetwork(chain));
  api = createApi({ chain: asBeaconChain(chain), network, setLogSpec: () => {} });
  caller = new Caller(api);
});

describe("a node without a network", () => {
  it("has an id and an ENR, and no peers", async () => {
    const { devChain } = await openDevChain(QUIET);
    const offline = new Caller(devChain.api);
    expect(await offline.call("getNetworkPeerId")).toMatch(/^16Uiu2HA[1-9A-HJ-NP-Za-km-z]{45}$/);
    expect(await offline.call("getNetworkEnr")).toMatch(/^enr:-[\w-]+$/);
    expect(await offline.call("peers")).toEqual({ peers: [] });
    expect(await offline.call("getNetworkPeers")).toEqual([]);
    expect(await offline.call("debug_getGossipSubPeers")).toEqual({
      gossipsub: {},
      mesh: {},
      colocationPeers: [],
      peerStats: [],
      allPeers: [],
    });
  });
});

describe("the peers of the pool", () => {
  it("are the connected ones, with their identify data", async () => {
    const { peers } = await caller.call("peers");
    expect(peers).toHaveLength(2);
    expect(peers[1]).toEqual({
      id: CONNECTED_OUT.peerId,
      info: {
        peerId: CONNECTED_OUT.peerId,
        addrs: ["/ip4/127.0.0.1/tcp/9000"],
        protocols: ["/eth2/beacon_chain/req/ping/1/ssz_snappy"],
        protoVersion: "ipfs/0.1.0",
        agentVersion: "Other/v1",
      },
      connectionState: "Connected",
      score: -1.5,
    });
    expect(await caller.call("getNetworkPeers")).toEqual([CONNECTED_IN.peerId, CONNECTED_OUT.peerId]);
  });
});

describe("the network methods", () => {
  it.each(["peers", "getNetworkPeerId", "getNetworkPeers", "getNetworkEnr", "debug_getGossipSubPeers"])(
    "%s takes no parameters",
    async (name) => {
      expect(await caller.error(name, [1])).toMatchObject({ code: -32602 });
      expect(await caller.error(name, { peer_id: CONNECTED_IN.peerId })).toMatchObject({ code: -32602 });
    },
  );

  it("include the gossip dump under its older name", () => {
    const table = createMethodTable(api);
    expect(table.find("getGossipSubPeers")).toBe(table.find("debug_getGossipSubPeers"));
    expect(table.find("getGossipSubPeers")).toBeDefined();
  });
});
