import type { NodeProcess } from "../support/node-process.ts";
import type { DevNetwork } from "./dev-network.ts";
import { untilSynced } from "./joined.ts";
import { untilBeyond } from "./synced-node.ts";
import { heading, seconds, table } from "./table.ts";

const SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGKILL", "SIGTERM", "SIGKILL", "SIGKILL"];
const BLOCKS_COMPARED_TOGETHER = 500;

/** Stops and kills a node repeatedly during sync. Returns false if it loses a head that it reported. */
export async function benchInterruption(network: DevNetwork): Promise<boolean> {
  const slots = Math.floor(network.time);
  heading(`A sync of ${slots} slots, interrupted ${SIGNALS.length} times`);
  const flags = ["--no-discovery", "--peer", network.address];
  const dataDir = network.newDataDir();
  const row = table(
    "signal",
    "last reported head",
    "first head after restart",
    "start to first answer",
    "start to next block",
  );
  let isWhole = true;
  let node = await network.start({ flags, dataDir });
  for (const [index, signal] of SIGNALS.entries()) {
    await untilBeyond(node, Math.floor((slots * (index + 1)) / (SIGNALS.length + 2)));
    const reported = await node.headSlot();
    await network.stop(node, signal);
    node = await network.start({ flags, dataDir });
    const answered = performance.now();
    const found = await node.headSlot();
    await untilBeyond(node, found);
    row(signal, reported, found, seconds(answered - node.startedAt), seconds(performance.now() - node.startedAt));
    if (found < reported) isWhole = false;
  }
  await untilSynced(node);
  const last = await node.headSlot();
  const differences = await differingBlocks(network.first, node, last);
  console.log(`\nSynced at slot ${last}. Slots whose block differs from the first node's: ${differences}.`);
  await network.stop(node);
  return isWhole && differences === 0;
}

async function differingBlocks(one: NodeProcess, other: NodeProcess, lastSlot: number): Promise<number> {
  let differences = 0;
  for (let start = 0; start <= lastSlot; start += BLOCKS_COMPARED_TOGETHER) {
    const count = Math.min(BLOCKS_COMPARED_TOGETHER, lastSlot - start + 1);
    const calls = Array.from({ length: count }, (_, index): [string, unknown] => [
      "get_v1_beacon_blocks_blockId_root",
      [String(start + index)],
    ]);
    const [ofOne, ofOther] = await Promise.all([one.batch(calls), other.batch(calls)]);
    for (const [index, { result }] of ofOne!.entries()) {
      if (JSON.stringify(result) !== JSON.stringify(ofOther![index]?.result)) differences++;
    }
  }
  return differences;
}
