import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../test/support/api/fake-chain.ts";
import { networkWith, PEERS } from "../../test/support/api/peers.ts";
import { Instruments } from "./instruments.ts";
import { addNetworkMetrics, addSyncMetrics, type NetworkingSource } from "./network-metrics.ts";

it("reports peers, gossip verdicts and the sync state", async () => {
  const fake = createFakeChain([{ fork: "phase0", epoch: 0 }]);
  const registry = new Registry();
  const instruments = new Instruments(registry);
  const verdicts: NetworkingSource["network"]["gossip"]["verdicts"] = new Map([
    ["beacon_block", { accept: 3, ignore: 1, reject: 0 }],
  ]);
  const networking: NetworkingSource = { network: { gossip: { verdicts } }, sync: { state: "waiting for peers" } };
  addNetworkMetrics(instruments, networkWith(PEERS, fakeNetwork(fake)), networking);
  addSyncMetrics(instruments, asBeaconChain(fake), networking);
  const samples = (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(samples).toEqual([
    "libp2p_peers 2",
    'fanal_peers{state="disconnected"} 1',
    'fanal_peers{state="connecting"} 0',
    'fanal_peers{state="connected"} 2',
    'fanal_peers{state="disconnecting"} 1',
    'fanal_connected_peers{direction="inbound"} 1',
    'fanal_connected_peers{direction="outbound"} 1',
    'fanal_gossip_messages_total{topic="beacon_block",verdict="accept"} 3',
    'fanal_gossip_messages_total{topic="beacon_block",verdict="ignore"} 1',
    'fanal_gossip_messages_total{topic="beacon_block",verdict="reject"} 0',
    'fanal_sync_state{state="synced"} 0',
    'fanal_sync_state{state="syncing"} 0',
    'fanal_sync_state{state="waiting for peers"} 1',
  ]);
  // Reading an observable counter twice does not double it.
  expect(await registry.getSingleMetricAsString("fanal_gossip_messages_total")).toContain('verdict="accept"} 3');
});
