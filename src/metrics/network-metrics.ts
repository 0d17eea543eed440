import type { BeaconChain } from "../chain/chain.ts";
import type { Gossip } from "../network/gossip/gossip.ts";
import type { NetworkView } from "../network/network-view.ts";
import type { Sync } from "../sync/sync.ts";
import type { Instruments } from "./instruments.ts";

const SYNC_STATES = ["synced", "syncing", "waiting for peers"] as const;

/** What a node has that speaks to others. */
export interface Networked {
  network: { gossip: Pick<Gossip, "verdicts"> };
  sync: Pick<Sync, "state">;
}

export function addNetworkMetrics(instruments: Instruments, view: NetworkView, networked: Networked | undefined): void {
  instruments.gauge("libp2p_peers", "Peers that are connected", () => view.peerCounts().connected);
  instruments.gauges("fanal_peers", "Known peers, by state of the connection", ["state"], () =>
    Object.entries(view.peerCounts()).map(([state, count]) => [{ state }, count] as const),
  );
  instruments.gauges("fanal_connected_peers", "Peers that are connected, by who dialled", ["direction"], () => {
    const counts = { inbound: 0, outbound: 0 };
    for (const { state, direction } of view.peers()) if (state === "connected" && direction) counts[direction]++;
    return Object.entries(counts).map(([direction, count]) => [{ direction }, count] as const);
  });
  instruments.totals(
    "fanal_gossip_messages_total",
    "Gossip messages by kind of topic and verdict: accept, ignore or reject",
    ["topic", "verdict"],
    () =>
      Array.from(networked?.network.gossip.verdicts ?? [], ([topic, counts]) =>
        Object.entries(counts).map(([verdict, count]) => [{ topic, verdict }, count] as const),
      ).flat(),
  );
}

/** A node without a network cannot be waiting for peers. */
export function addSyncMetrics(
  instruments: Instruments,
  { status }: BeaconChain,
  networked: Networked | undefined,
): void {
  instruments.gauges(
    "fanal_sync_state",
    "1 for the state that the node is in: synced, syncing or waiting for peers; 0 for the others",
    ["state"],
    () => {
      const current = networked?.sync.state ?? (status.isSyncing ? "syncing" : "synced");
      return SYNC_STATES.map((state) => [{ state }, Number(state === current)] as const);
    },
  );
}
