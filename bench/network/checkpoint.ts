import { type DevNetwork, SLOTS_PER_EPOCH } from "./dev-network.ts";
import { startAndSync } from "./synced-node.ts";
import { heading, mebibytes, seconds, table } from "./table.ts";

/** Measures checkpoint sync. */
export async function benchCheckpoint(network: DevNetwork): Promise<void> {
  heading("Start from a checkpoint");
  const middle = Math.floor(network.time / SLOTS_PER_EPOCH / 2) * SLOTS_PER_EPOCH;
  const row = table(
    "start",
    "first slot",
    "slots synced",
    "start to first answer",
    "start to synced",
    "RSS at the end",
  );
  for (const [name, flags] of [
    ["--checkpoint-sync-url", ["--checkpoint-sync-url", network.restUrl]],
    [
      "--checkpoint-state, state in the middle",
      ["--checkpoint-state", `${network.restUrl}/eth/v2/debug/beacon/states/${middle}`],
    ],
  ] as const) {
    const { node, startSlot, toFirstAnswer, toFirstBlock, fromFirstBlock } = await startAndSync(network, [
      "--no-discovery",
      "--peer",
      network.address,
      ...flags,
    ]);
    row(
      name,
      startSlot,
      (await node.headSlot()) - startSlot,
      seconds(toFirstAnswer),
      seconds(toFirstBlock + fromFirstBlock),
      mebibytes(node.usage.residentBytes),
    );
    await network.stop(node);
  }
}
