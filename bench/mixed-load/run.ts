import { MixedLoad } from "../../test/support/program/mixed-load.ts";
import { type NodeProcess, withNode } from "../support/node-process.ts";
import { quantile } from "../support/statistics.ts";
import { mebibytes, percent, printHeader, printRow, printSetting } from "../support/table.ts";

const CONNECTIONS = 16;
/** Load relative to the node's capacity. */
const SHARE = 0.8;
const CAPACITY_SECONDS = 10;
/** Rows of the table. */
const PARTS = 10;

/** Prints the table. Returns false if a call failed. */
export function benchMixedLoad(minutes: number): Promise<boolean> {
  return withNode(["dev"], (node) => measure(node, minutes));
}

async function measure(node: NodeProcess, minutes: number): Promise<boolean> {
  const load = new MixedLoad(node.url, CONNECTIONS);
  load.slot = await node.headSlot();
  await load.run(performance.now() + CAPACITY_SECONDS * 1000);
  const capacity = load.millis.length / CAPACITY_SECONDS;
  printSetting(`${CONNECTIONS} connections, capacity ${capacity.toFixed(0)} calls/s`);
  printHeader("minutes", "calls/s", "p50", "p99", "longest", "RSS", "CPU", "head behind the clock");
  const seconds = (minutes * 60) / PARTS;
  for (let part = 1; part <= PARTS; part++) {
    load.millis.length = 0;
    const { cpuSeconds } = node.usage;
    const began = performance.now();
    load.slot = await node.headSlot();
    await load.run(began + seconds * 1000, capacity * SHARE);
    const elapsed = (performance.now() - began) / 1000;
    const millis = (share: number) => `${quantile(load.millis, share).toFixed(1)} ms`;
    const { residentBytes, cpuSeconds: cpuAfter } = node.usage;
    const { sync_distance: distance } = await node.call<{ sync_distance: string }>("get_v1_node_syncing");
    printRow(
      ((part * minutes) / PARTS).toFixed(1),
      (load.millis.length / elapsed).toFixed(0),
      ...[0.5, 0.99, 1].map(millis),
      mebibytes(residentBytes),
      percent((cpuAfter - cpuSeconds) / elapsed),
      `${distance} slots`,
    );
  }
  if (load.firstFailure !== undefined) console.error(load.firstFailure);
  return load.firstFailure === undefined;
}
