import { ENR } from "@chainsafe/enr";
import { peerIdFromString } from "@libp2p/peer-id";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { beforeAll, describe, expect, it } from "vitest";
import { createApi } from "../../../src/api/api.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import { Caller } from "../../support/api/caller.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../support/api/fake-chain.ts";
import {
  CONNECTED_IN,
  CONNECTED_OUT,
  DISCONNECTED,
  DISCONNECTING,
  networkWith,
  PEERS,
} from "../../support/api/peers.ts";
import { openDevChain, QUIET } from "../../support/chain/dev-chain.ts";
import { tempDirectory } from "../../support/directories/temp-directory.ts";

const INVALID_PARAMS = -32602;
const NOT_FOUND = -32001;

async function openCaller(forks: ScheduledFork[], directory?: string) {
  const opened = await openDevChain({ ...QUIET, forks }, directory);
  return { ...opened, caller: new Caller(opened.devChain.api) };
}

let withPeers: Caller;
beforeAll(() => {
  const chain = createFakeChain();
  const network = networkWith(PEERS, fakeNetwork(chain));
  withPeers = new Caller(createApi({ chain: asBeaconChain(chain), network, setLogSpec: () => {} }));
});

describe("get_v1_node_identity", () => {
  it.each<[string, ScheduledFork[], object]>([
    ["phase0", [], { seq_number: "0", attnets: "0x0000000000000000", syncnets: "0x00" }],
    ["altair", [{ fork: "altair", epoch: 0 }], { seq_number: "0", attnets: "0x0000000000000000", syncnets: "0x00" }],
    [
      "fulu",
      [{ fork: "fulu", epoch: 0 }],
      { seq_number: "0", attnets: "0x0000000000000000", syncnets: "0x00", custody_group_count: "4" },
    ],
  ])("tells who the node is in %s", async (_fork, forks, metadata) => {
    const { caller, devChain } = await openCaller(forks);
    const identity = await caller.call("get_v1_node_identity");
    expect(identity).toEqual({
      peer_id: await caller.call("getNetworkPeerId"),
      enr: await caller.call("getNetworkEnr"),
      p2p_addresses: [],
      discovery_addresses: [],
      metadata,
    });
    const record = ENR.decodeTxt(identity.enr);
    expect(record.peerId.toString()).toBe(identity.peer_id);
    const digest = devChain.config.forkBoundary2ForkDigest(devChain.config.getForkBoundaryAtEpoch(0));
    expect(Buffer.from(record.kvs.get("eth2")!.subarray(0, 4))).toEqual(Buffer.from(digest));
    expect(await caller.meta("get_v1_node_identity")).toBeUndefined();
  });

  it("follows the forks", async () => {
    const { caller, devChain } = await openCaller([{ fork: "altair", epoch: 1 }]);
    const before = await caller.call("get_v1_node_identity");
    await devChain.clock.advanceTo(SLOTS_PER_EPOCH);
    const after = await caller.call("get_v1_node_identity");
    expect(after.metadata).toEqual(before.metadata);
    expect(after.peer_id).toBe(before.peer_id);
    expect(ENR.decodeTxt(after.enr).seq).toBeGreaterThan(ENR.decodeTxt(before.enr).seq);
  });

  it("is stable over a restart, and differs between chains", async () => {
    const directory = tempDirectory();
    const first = await openCaller([], directory);
    const identity = await first.caller.call("get_v1_node_identity");
    await first.close();
    const second = await openCaller([], directory);
    expect(await second.caller.call("get_v1_node_identity")).toEqual(identity);
    const other = await openCaller([]);
    expect(await other.caller.call("getNetworkPeerId")).not.toBe(identity.peer_id);
  });
});

describe("get_v1_node_peers", () => {
  const idsOf = (peers: { peer_id: string }[]) => peers.map(({ peer_id }) => peer_id);

  it("returns the standard members, and the count as metadata", async () => {
    const peers = await withPeers.call("get_v1_node_peers");
    expect(peers).toHaveLength(PEERS.length);
    expect(peers[0]).toEqual({
      peer_id: CONNECTED_IN.peerId,
      enr: null,
      last_seen_p2p_address: CONNECTED_IN.lastSeenP2pAddress,
      state: "connected",
      direction: "inbound",
    });
    expect(peers[1].enr).toBe(CONNECTED_OUT.enr);
    expect(await withPeers.meta("get_v1_node_peers")).toEqual({ count: PEERS.length });
    expect(await withPeers.meta("get_v1_node_peers", [["connecting"]])).toEqual({ count: 0 });
  });

  it.each([
    [[], PEERS],
    [[null, null], PEERS],
    [[[], []], PEERS],
    [[["connected"]], [CONNECTED_IN, CONNECTED_OUT]],
    [["connected"], [CONNECTED_IN, CONNECTED_OUT]],
    [[["connected", "disconnecting"]], [CONNECTED_IN, CONNECTED_OUT, DISCONNECTING]],
    [
      [null, ["outbound"]],
      [CONNECTED_OUT, DISCONNECTING],
    ],
    [
      [null, ["outbound", "inbound"]],
      [CONNECTED_IN, CONNECTED_OUT, DISCONNECTING],
    ],
    [[["connected"], ["outbound"]], [CONNECTED_OUT]],
    [[["disconnected"], ["inbound"]], []],
    [{ direction: "inbound" }, [CONNECTED_IN]],
    [{ state: ["disconnected"] }, [DISCONNECTED]],
  ])("filters by %j", async (params, expected) => {
    expect(idsOf(await withPeers.call("get_v1_node_peers", params))).toEqual(expected.map(({ peerId }) => peerId));
  });

  it("agrees with the counts", async () => {
    const counts = await withPeers.call("get_v1_node_peer_count");
    for (const state of ["disconnected", "connecting", "connected", "disconnecting"]) {
      expect(String((await withPeers.call("get_v1_node_peers", [[state]])).length)).toBe(counts[state]);
    }
  });

  it.each([
    [["lost"]],
    [["Connected"]],
    [[["connected", "connected"]]],
    [[["connected", 1]]],
    [[[null]]],
    [[1]],
    [[{}]],
    [[null, "sideways"]],
    [[null, ["inbound", "inbound"]]],
    [[null, null, null]],
    [{ states: ["connected"] }],
  ])("rejects %j", async (params) => {
    expect(await withPeers.error("get_v1_node_peers", params)).toMatchObject({ code: INVALID_PARAMS });
  });

  it("is empty without a network", async () => {
    const { caller } = await openCaller([]);
    expect(await caller.call("get_v1_node_peers")).toEqual([]);
    expect(await caller.meta("get_v1_node_peers")).toEqual({ count: 0 });
  });
});

describe("get_v1_node_peers_peerId", () => {
  it("finds a peer by both forms of its id", async () => {
    const [, listed] = await withPeers.call("get_v1_node_peers");
    expect(await withPeers.call("get_v1_node_peers_peerId", [CONNECTED_OUT.peerId])).toEqual(listed);
    const cid = peerIdFromString(CONNECTED_OUT.peerId).toCID().toString();
    expect(await withPeers.call("get_v1_node_peers_peerId", { peer_id: cid })).toEqual(listed);
  });

  it("does not find unknown peers, nor itself", async () => {
    const { caller } = await openCaller([]);
    const ownId = await caller.call("getNetworkPeerId");
    expect(await caller.error("get_v1_node_peers_peerId", [ownId])).toMatchObject({
      code: NOT_FOUND,
      message: `Unknown peer ${ownId}.`,
    });
    expect(await withPeers.error("get_v1_node_peers_peerId", [ownId])).toMatchObject({ code: NOT_FOUND });
  });

  it.each([[[]], [["x"]], [[""]], [[`${CONNECTED_OUT.peerId}1`]], [[1]], [[null]], [[["a"]]], [["1".repeat(100_000)]]])(
    "rejects %j",
    async (params) => {
      expect(await withPeers.error("get_v1_node_peers_peerId", params)).toMatchObject({ code: INVALID_PARAMS });
    },
  );
});
