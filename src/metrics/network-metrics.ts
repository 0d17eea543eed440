import type { BeaconChain } from "../chain/chain.ts";
import type { Gossip } from "../network/gossip/gossip.ts";
import type { NetworkView } from "../network/network-view.ts";
import type { Sync } from "../sync/sync.ts";
import type { Instruments } from "./instruments.ts";

const SYNC_STATES = ["synced", "syncing", "waiting for peers"] as const;

/** Networking parts to measure. */
export interface NetworkingSource {
  network: { gossip: Pick<Gossip, "verdicts"> };
  sync: Pick<Sync, "state">;
}

export function addNetworkMetrics(
  instruments: Instruments,
  view: NetworkView,
  networking: NetworkingSource | undefined,
): void {
  instruments.gauge("libp2p_peers", "Connected peers", () => view.peerCounts().connected);
  instruments.gauges("fanal_peers", "Known peers by connection state", ["state"], () =>
    Object.entries(view.peerCounts()).map(([state, count]) => [{ state }, count] as const),
  );
  instruments.gauges("fanal_connected_peers", "Connected peers by direction", ["direction"], () => {
    const counts = { inbound: 0, outbound: 0 };
    for (const { state, direction } of view.peers()) if (state === "connected" && direction) counts[direction]++;
    return Object.entries(counts).map(([direction, count]) => [{ direction }, count] as const);
  });
  instruments.totals(
    "fanal_gossip_messages_total",
    "Gossip messages by kind of topic and verdict: accept, ignore or reject",
    ["topic", "verdict"],
    () =>
      Array.from(networking?.network.gossip.verdicts ?? [], ([topic, counts]) =>
        Object.entries(counts).map(([verdict, count]) => [{ topic, verdict }, count] as const),
      ).flat(),
  );
}

/** Adds the sync state. A node without a network is never "waiting for peers". */
export function addSyncMetrics(
  instruments: Instruments,
  { status }: BeaconChain,
  networking: NetworkingSource | undefined,
): void {
  instruments.gauges(
    "fanal_sync_state",
    "1 for the current sync state: synced, syncing or waiting for peers; else 0",
    ["state"],
    () => {
      const current = networking?.sync.state ?? (status.isSyncing ? "syncing" : "synced");
      return SYNC_STATES.map((state) => [{ state }, Number(state === current)] as const);
    },
  );
}
