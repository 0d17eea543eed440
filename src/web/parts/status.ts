import { html } from "htm/preact";
import { useChain } from "../live.ts";

/** Shows whether a block is final, on the chain or orphaned. */
export function BlockStatus({ slot, isCanonical }: { slot: number; isCanonical: boolean }) {
  const { head } = useChain();
  if (!isCanonical) return html`<span class="is-orphaned">orphaned</span>`;
  if (slot <= Number(head.finalized_slot)) return html`<span class="is-final">final</span>`;
  return html`<span class="is-canonical">on the chain</span>`;
}

/** Shows whether an epoch is final or justified. The blocks of the finalized epoch after its first slot are not final. */
export function EpochStatus({ epoch }: { epoch: number }) {
  const { head, time, slotsPerEpoch } = useChain();
  const first = epoch * slotsPerEpoch;
  if (first + slotsPerEpoch - 1 <= Number(head.finalized_slot)) return html`<span class="is-final">final</span>`;
  if (first <= Number(head.finalized_slot))
    return html`<span class="is-final" title="Its first block is final, later ones are not.">finalized checkpoint</span>`;
  if (first <= Number(head.justified_slot)) return html`<span class="is-canonical">justified</span>`;
  return first > time.slot ? "to come" : "not justified";
}
