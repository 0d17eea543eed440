import { DevNetwork } from "./dev-network.ts";
import { connectedPeers } from "./joined.ts";
import { heading, seconds, table } from "./table.ts";

const NODES = 4;
const TIMEOUT_SECONDS = 120;

/** Starts nodes with a single bootnode. Returns false if they do not discover each other. */
export async function benchDiscovery(): Promise<boolean> {
  heading(`${NODES} nodes, the first is the bootnode of the others`);
  return DevNetwork.with({ fork: "phase0", slotSeconds: 2, warmupEpochs: 3 }, async (network) => {
    const nodes = [network.first, ...(await Promise.all(Array.from({ length: NODES - 1 }, () => network.start())))];
    const serving = performance.now();
    const row = table("process", "last peer found, after all nodes started", "peers");
    const counts = await Promise.all(
      nodes.map(async (node) => {
        await node
          .callUntil<{ state: string }[]>(
            "get_v1_node_peers",
            (peers) => peers.filter(({ state }) => state === "connected").length === NODES - 1,
            { seconds: TIMEOUT_SECONDS },
          )
          .catch(() => undefined);
        const took = performance.now() - serving;
        const count = await connectedPeers(node);
        row(node.name, seconds(took), count);
        return count;
      }),
    );
    return counts.every((count) => count === NODES - 1);
  });
}
