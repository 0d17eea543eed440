import { html } from "htm/preact";
import { type BlockStatusName, blockStatusOf } from "../block-status.ts";
import { useChain } from "../live.ts";

const BLOCK_STYLES: Readonly<Record<BlockStatusName, string>> = {
  orphaned: "is-orphaned",
  final: "is-final",
  head: "is-canonical",
  "justified checkpoint": "is-canonical",
  "on the chain": "is-canonical",
};

/** Shows whether a block is final, on the chain or orphaned, and marks the head and the justified checkpoint. */
export function BlockStatus(block: { root?: string; slot: number; isCanonical: boolean }) {
  const status = blockStatusOf(block, useChain().head);
  return html`<span class=${BLOCK_STYLES[status]}>${status}</span>`;
}

/** Shows whether an epoch is final or justified. In the finalized epoch, only the block at the first slot is final. */
export function EpochStatus({ epoch }: { epoch: number }) {
  const { head, time, slotsPerEpoch } = useChain();
  const first = epoch * slotsPerEpoch;
  if (first + slotsPerEpoch - 1 <= Number(head.finalized_slot)) return html`<span class="is-final">final</span>`;
  if (first <= Number(head.finalized_slot))
    return html`<span class="is-final" title="Its first block is final, later ones are not.">finalized checkpoint</span>`;
  if (first <= Number(head.justified_slot)) return html`<span class="is-canonical">justified</span>`;
  return first > time.slot ? "to come" : "not justified";
}
