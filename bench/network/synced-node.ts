import type { NodeProcess } from "../support/node-process.ts";
import type { DevNetwork } from "./dev-network.ts";
import { untilSynced } from "./joined.ts";

/** How a new node came level with the network; times in milliseconds. */
export interface SyncedNode {
  node: NodeProcess;
  /** Of the block that it began with. */
  startSlot: number;
  /** Slots that the node caught up by. */
  slots: number;
  /** From the start of the process until it answers. */
  toFirstAnswer: number;
  /** From the start of the process until it has its first block. */
  toFirstBlock: number;
  /** From then on until it is level with its peers. */
  fromFirstBlock: number;
  cpuSecondsFromFirstBlock: number;
}

/** Seldom enough not to take the node's time. */
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

/** Waits for a head after the given slot, and tells its slot. */
export async function untilBeyond(node: NodeProcess, slot: number): Promise<number> {
  const { head_slot } = await node.callUntil<{ head_slot: string }>(
    "getChainHead",
    (head) => Number(head.head_slot) > slot,
    { pollMs: POLL_MS },
  );
  return Number(head_slot);
}
