import type { ProgramRun } from "./program-run.ts";

export interface Head {
  head_slot: string;
  head_block_root: string;
}

export const slotOf = ({ head_slot }: Head) => Number(head_slot);

/** Waits until both have the same head. While a block is in transit, one of them may be ahead. */
export async function untilAgreed(one: ProgramRun, other: ProgramRun): Promise<void> {
  const head: Head = await one.call("getChainHead");
  const reached = (found: Head) => found.head_block_root === head.head_block_root || slotOf(found) > slotOf(head);
  const found = await other.callUntil<Head>("getChainHead", reached);
  if (found.head_block_root !== head.head_block_root) await untilAgreed(one, other);
}
