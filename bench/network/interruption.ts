import type { NodeProcess } from "../support/node-process.ts";
import type { DevNetwork } from "./dev-network.ts";
import { untilSynced } from "./joined.ts";
import { untilBeyond } from "./synced-node.ts";
import { heading, seconds, table } from "./table.ts";

const ENDINGS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGKILL", "SIGTERM", "SIGKILL", "SIGKILL"];
const BLOCKS_COMPARED_TOGETHER = 500;

/** A node that is ended again and again in the middle of its sync; false when it lost something that it had told of. */
export async function benchInterruption(network: DevNetwork): Promise<boolean> {
  const slots = Math.floor(network.time);
  heading(`A node ended ${ENDINGS.length} times while it syncs ${slots} slots`);
  const flags = ["--no-discovery", "--peer", network.address];
  const dataDir = network.newDataDir();
  const row = table(
    "ended by",
    "head told last",
    "first head after the start",
    "start to first answer",
    "start to next block",
  );
  let isWhole = true;
  let node = await network.start({ flags, dataDir });
  for (const [index, signal] of ENDINGS.entries()) {
    await untilBeyond(node, Math.floor((slots * (index + 1)) / (ENDINGS.length + 2)));
    const told = await node.headSlot();
    await network.stop(node, signal);
    node = await network.start({ flags, dataDir });
    const answered = performance.now();
    const found = await node.headSlot();
    await untilBeyond(node, found);
    row(signal, told, found, seconds(answered - node.startedAt), seconds(performance.now() - node.startedAt));
    if (found < told) isWhole = false;
  }
  await untilSynced(node);
  const last = await node.headSlot();
  const differences = await differingBlocks(network.first, node, last);
  console.log(
    `\nSynced at slot ${last}. Slots of which it has another block than the first node, or none where that has one: ${differences}.`,
  );
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
