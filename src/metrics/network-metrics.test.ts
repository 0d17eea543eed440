import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { networkWith, PEERS } from "../../test/support/peers.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../api/fake-chain.test-support.ts";
import { Instruments } from "./instruments.ts";
import { addNetworkMetrics, addSyncMetrics, type Networked } from "./network-metrics.ts";

it("tells of peers, of what gossip thought of messages, and how far syncing is", async () => {
  const fake = createFakeChain([{ fork: "phase0", epoch: 0 }]);
  const registry = new Registry();
  const instruments = new Instruments(registry);
  const verdicts: Networked["network"]["gossip"]["verdicts"] = new Map([
    ["beacon_block", { accept: 3, ignore: 1, reject: 0 }],
  ]);
  const networked: Networked = { network: { gossip: { verdicts } }, sync: { state: "waiting for peers" } };
  addNetworkMetrics(instruments, networkWith(PEERS, fakeNetwork(fake)), networked);
  addSyncMetrics(instruments, asBeaconChain(fake), networked);
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
  // A counter that is read twice has not doubled.
  expect(await registry.getSingleMetricAsString("fanal_gossip_messages_total")).toContain('verdict="accept"} 3');
});
