import type { NodeProcess } from "../support/node-process.ts";
import type { DevNetwork } from "./dev-network.ts";

/**
 * Of a slot, when the heads are asked for: attestations and aggregates are through, and the next block is not there
 * yet.
 */
const ASKED_AT = 0.9;

/** In how many of the next slots all of the nodes have the head of the first one. */
export async function followsFor(network: DevNetwork, nodes: readonly NodeProcess[], slots: number): Promise<number> {
  const start = Math.ceil(network.time);
  let following = 0;
  for (let slot = start; slot < start + slots; slot++) {
    await network.untilTime(slot + ASKED_AT);
    const heads = await Promise.all([network.first, ...nodes].map((node) => node.head()));
    const isNew = Number(heads[0]!.head_slot) === slot;
    if (isNew && new Set(heads.map((head) => JSON.stringify(head))).size === 1) following++;
  }
  return following;
}
