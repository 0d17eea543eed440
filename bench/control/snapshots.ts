import type { NodeProcess } from "../support/node-process.ts";
import { median } from "../support/statistics.ts";
import { withPausedNode } from "./benched-chain.ts";
import { type Row, timed } from "./row.ts";

const RUNS = 5;
/** Slots between a snapshot and its revert. */
const SLOTS_SINCE = 20;

/** Measures snapshots and reverts at the start of a chain and at its end, to show whether its length matters. */
export function snapshotRows(slots: number): Promise<Row[]> {
  return withPausedNode(async (node) => {
    const rows: Row[] = [];
    for (const length of [100, slots]) {
      await node.call("dev_advance", [length - (await node.headSlot())]);
      rows.push(...(await measure(node, length)));
    }
    return rows;
  });
}

async function measure(node: NodeProcess, length: number): Promise<Row[]> {
  const took = { dev_snapshot: [] as number[], dev_revert: [] as number[] };
  for (let run = 0; run < RUNS; run++) {
    let id = "";
    const snapshot = await timed(async () => {
      id = await node.call("dev_snapshot");
    });
    await node.call("dev_advance", [SLOTS_SINCE]);
    const revert = await timed(() => node.call("dev_revert", [id]));
    took.dev_snapshot.push(snapshot.elapsedMs);
    took.dev_revert.push(revert.elapsedMs);
  }
  return Object.entries(took).map(([method, times]) => ({
    what: `${method}, chain of ${length} slots`,
    figure: `${median(times).toFixed(1)} ms median, ${Math.max(...times).toFixed(1)} ms longest`,
  }));
}
