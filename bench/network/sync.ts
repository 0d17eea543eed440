import type { DevFork } from "../../src/dev/forks.ts";
import { Child } from "../support/child.ts";
import type { NodeProcess } from "../support/node-process.ts";
import { type DevNetwork, SLOTS_PER_EPOCH } from "./dev-network.ts";
import { followsFor } from "./following.ts";
import { type SyncedNode, startAndSync } from "./synced-node.ts";
import { heading, mebibytes, percent, seconds, table } from "./table.ts";
import type { TransitionOrder, TransitionTimes } from "./transition-process.ts";

const MAX_PEERS = 3;
const FOLLOWED_SLOTS = 2 * SLOTS_PER_EPOCH;

/** Syncs late nodes from one peer, two and three. Returns false if one falls behind afterwards. */
export async function benchSync(network: DevNetwork, fork: DevFork): Promise<boolean> {
  heading(`Sync of ${Math.floor(network.time)} slots, ${fork}`);
  const row = table(
    "",
    "slots/s",
    "CPU ms per slot",
    "start to first block",
    "first block to synced",
    "RSS at the end",
    "peak RSS",
  );
  const peers = [network.address];
  const late: SyncedNode[] = [];
  for (let count = 1; count <= MAX_PEERS; count++) {
    const synced = await startAndSync(network, ["--no-discovery", ...peers.flatMap((peer) => ["--peer", peer])]);
    late.push(synced);
    const { node, toFirstBlock, fromFirstBlock } = synced;
    const { residentBytes, peakBytes } = node.usage;
    row(
      `sync from ${count} ${count === 1 ? "peer" : "peers"}`,
      (1000 / elapsedOf(synced)).toFixed(0),
      spentOf(synced).toFixed(2),
      seconds(toFirstBlock),
      seconds(fromFirstBlock),
      mebibytes(residentBytes),
      mebibytes(peakBytes),
    );
    peers.push((await node.untilLine(/Listening for peers\s+address=(\S+)/))[1]!);
  }
  const { bare, withSignatures } = await transitionTimes(network);
  for (const [name, { elapsed, spent }] of [
    ["library, no signatures", bare],
    ["library, signatures of a block in one batch", withSignatures],
  ] as const) {
    row(name, (1000 / elapsed).toFixed(0), spent.toFixed(2), "", "", "", "");
  }
  const fastest = late.reduce((one, other) => (elapsedOf(one) < elapsedOf(other) ? one : other));
  console.log(
    `\nThe state transition alone takes ${percent(bare.spent / spentOf(fastest))} of the fastest sync's CPU time ` +
      `(${percent(bare.elapsed / elapsedOf(fastest))} of its wall time), with signatures ` +
      `${percent(withSignatures.spent / spentOf(fastest))} (${percent(withSignatures.elapsed / elapsedOf(fastest))}).`,
  );
  const nodes = late.map(({ node }) => node);
  const follows = await followsFor(network, nodes, FOLLOWED_SLOTS);
  console.log(`Afterwards, all nodes had the first node's head in ${follows} of ${FOLLOWED_SLOTS} slots.`);
  await stopAll(network, nodes);
  return follows === FOLLOWED_SLOTS;
}

const elapsedOf = ({ fromFirstBlock, slots }: SyncedNode) => fromFirstBlock / slots;
const spentOf = ({ cpuSecondsFromFirstBlock, slots }: SyncedNode) => (1000 * cpuSecondsFromFirstBlock) / slots;

async function stopAll(network: DevNetwork, nodes: readonly NodeProcess[]): Promise<void> {
  for (const node of nodes) await network.stop(node);
}

async function transitionTimes({ description, restUrl, time }: DevNetwork): Promise<TransitionTimes> {
  const { child } = await Child.start("transition-process", import.meta.url);
  try {
    const order: TransitionOrder = { description, restUrl, slots: Math.floor(time) };
    return await child.ask<TransitionTimes>(order);
  } finally {
    await child.end();
  }
}
