import type { NodeProcess } from "../support/node-process.ts";
import type { DevNetwork } from "./dev-network.ts";

/** Fraction of the slot at which heads are polled: after attestations and aggregates, before the next block. */
const POLLED_AT = 0.9;

/** Counts the next slots in which all nodes have the head of the first node. */
export async function followsFor(network: DevNetwork, nodes: readonly NodeProcess[], slots: number): Promise<number> {
  const start = Math.ceil(network.time);
  let following = 0;
  for (let slot = start; slot < start + slots; slot++) {
    await network.untilTime(slot + POLLED_AT);
    const heads = await Promise.all([network.first, ...nodes].map((node) => node.head()));
    const isNew = Number(heads[0]!.head_slot) === slot;
    if (isNew && new Set(heads.map((head) => JSON.stringify(head))).size === 1) following++;
  }
  return following;
}
