import type { NodeProcess } from "../support/node-process.ts";
import type { DevNetwork } from "./dev-network.ts";
import { untilSynced } from "./joined.ts";

/** Sync of a new node. Times are in milliseconds. */
export interface SyncedNode {
  node: NodeProcess;
  /** Slot of the anchor block. */
  startSlot: number;
  /** Synced slots. */
  slots: number;
  /** From process start to the first answer. */
  toFirstAnswer: number;
  /** From process start to the first imported block. */
  toFirstBlock: number;
  /** From the first block until the node is synced. */
  fromFirstBlock: number;
  cpuSecondsFromFirstBlock: number;
}

/** Long enough not to slow down the node. */
const POLL_MS = 20;

/** Starts a node and waits until it is synced. */
export async function startAndSync(
  network: DevNetwork,
  flags: readonly string[],
  dataDir?: string,
): Promise<SyncedNode> {
  const node = await network.start({ flags, dataDir });
  const toFirstAnswer = performance.now() - node.startedAt;
  const startSlot = await node.headSlot();
  const firstSlot = await untilBeyond(node, startSlot);
  const firstAt = performance.now();
  const cpuBefore = node.usage.cpuSeconds;
  await untilSynced(node, POLL_MS);
  const fromFirstBlock = performance.now() - firstAt;
  return {
    node,
    startSlot,
    toFirstAnswer,
    slots: (await node.headSlot()) - firstSlot,
    toFirstBlock: firstAt - node.startedAt,
    fromFirstBlock,
    cpuSecondsFromFirstBlock: node.usage.cpuSeconds - cpuBefore,
  };
}

/** Waits for a head after the given slot. Returns its slot. */
export async function untilBeyond(node: NodeProcess, slot: number): Promise<number> {
  const { head_slot } = await node.callUntil<{ head_slot: string }>(
    "getChainHead",
    (head) => Number(head.head_slot) > slot,
    { pollMs: POLL_MS },
  );
  return Number(head_slot);
}
