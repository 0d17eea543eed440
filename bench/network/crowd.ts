import type { NodeProcess } from "../support/node-process.ts";
import { quantile } from "../support/statistics.ts";
import { DevNetwork, SLOTS_PER_EPOCH } from "./dev-network.ts";
import { followsFor } from "./following.ts";
import { connectedPeers, untilSynced } from "./joined.ts";
import { heading, mebibytes, seconds, table } from "./table.ts";

const EPOCHS = 3;
/** Long enough for two cores to run all nodes. */
const SLOT_SECONDS = 6;
/** Nodes that start concurrently. */
const TOGETHER = 4;

/** Runs many nodes in one network. Returns false if a node falls behind. */
export async function benchCrowd(count: number): Promise<boolean> {
  heading(`${count} nodes in one network, slots of ${SLOT_SECONDS} seconds`);
  return DevNetwork.with({ fork: "fulu", slotSeconds: SLOT_SECONDS, warmupEpochs: 3 }, async (network) => {
    const begin = performance.now();
    const nodes = [network.first];
    while (nodes.length < count) {
      const starting = Array.from({ length: Math.min(TOGETHER, count - nodes.length) }, () => network.start());
      nodes.push(...(await Promise.all(starting)));
    }
    for (const node of nodes) await untilSynced(node);
    console.log(`All nodes synced ${seconds(performance.now() - begin)} after the first was ready.\n`);
    const before = nodes.map(({ usage }) => usage.cpuSeconds);
    const beganAt = performance.now();
    const slots = EPOCHS * SLOTS_PER_EPOCH;
    const following = await followsFor(network, nodes.slice(1), slots);
    const minutes = (performance.now() - beganAt) / 60_000;
    console.log(`All nodes had the same head in ${following} of ${slots} slots.\n`);
    await print(nodes, (index) => (nodes[index]!.usage.cpuSeconds - before[index]!) / minutes);
    return following === slots;
  });
}

async function print(nodes: readonly NodeProcess[], cpuSecondsAMinute: (index: number) => number): Promise<void> {
  const row = table("process", "peers", "CPU s per minute", "RSS", "peak RSS");
  const resident: number[] = [];
  for (const [index, node] of nodes.entries()) {
    const { residentBytes, peakBytes } = node.usage;
    resident.push(residentBytes);
    const cells = [await connectedPeers(node), cpuSecondsAMinute(index).toFixed(2)];
    row(node.name, ...cells, mebibytes(residentBytes), mebibytes(peakBytes));
  }
  const [least, middle, most] = [0, 0.5, 1].map((share) => mebibytes(quantile(resident, share)));
  console.log(`\nRSS from ${least} to ${most}, median ${middle}.`);
}
