import type { NodeProcess } from "../support/node-process.ts";

interface Syncing {
  is_syncing: boolean;
  sync_distance: string;
}

interface Peer {
  state: string;
}

export function untilSynced(node: NodeProcess, pollMs?: number): Promise<Syncing> {
  return node.callUntil<Syncing>("get_v1_node_syncing", ({ is_syncing }) => !is_syncing, { pollMs });
}

export async function connectedPeers(node: NodeProcess): Promise<number> {
  return (await node.call<Peer[]>("get_v1_node_peers")).filter(({ state }) => state === "connected").length;
}

/** Waits until each node is connected to all others and has caught up with them. */
export async function untilJoined(nodes: readonly NodeProcess[]): Promise<void> {
  for (const node of nodes) {
    await node.callUntil<Peer[]>(
      "get_v1_node_peers",
      (peers) => peers.filter(({ state }) => state === "connected").length >= nodes.length - 1,
      { seconds: 120 },
    );
    await untilSynced(node);
  }
}
