import { html } from "htm/preact";
import { grouped } from "../format.ts";
import { useChain } from "../live.ts";
import { node, resultsOf } from "../node.ts";
import { EpochParticipation } from "../parts/epoch-participation.ts";
import { EpochLink, SlotLink } from "../parts/links.ts";
import { Problem, useLoaded } from "../parts/loading.ts";
import { EpochStatus } from "../parts/status.ts";

const SHOWN_EPOCHS = 20;

/** Lists epochs, newest first. The subject is the first one; without it the list follows the chain. */
export function EpochsPage({ subject }: { subject: string | undefined }) {
  const { time, slotsPerEpoch } = useChain();
  const current = Math.floor(time.slot / slotsPerEpoch);
  if (subject !== undefined && !/^\d{1,15}$/.test(subject))
    return html`<${Problem}>Invalid epoch ${subject}. Epochs are whole numbers.<//>`;
  const newest = Math.min(subject === undefined ? current : Number(subject), current);
  const epochs = Array.from({ length: Math.min(SHOWN_EPOCHS, newest + 1) }, (_, back) => newest - back);
  const oldest = epochs.at(-1)!;
  const newer = newest + SHOWN_EPOCHS;
  return html`<h1>Epochs</h1>
    <nav class="buttons" aria-label="Other epochs">
      ${newest < current && html`<a href="#/epochs">latest</a>`}
      ${newest < current && html`<a href=${newer >= current ? "#/epochs" : `#/epochs/${newer}`}>← newer</a>`}
      <span>Epochs ${grouped(oldest)} to ${grouped(newest)}</span>
      ${oldest > 0 && html`<a href=${`#/epochs/${oldest - 1}`}>older →</a>`}
    </nav>
    <div class="scroll" tabindex="0" role="region" aria-label="Epochs">
      <table>
        <thead><tr>
          ${["epoch", "status", "participation", "slots", "blocks", "missed", "orphaned"].map((name) => html`<th scope="col">${name}</th>`)}
        </tr></thead>
        <tbody>${epochs.map((epoch) => html`<${EpochRow} key=${epoch} epoch=${epoch} />`)}</tbody>
      </table>
    </div>`;
}

function EpochRow({ epoch }: { epoch: number }) {
  const { head, time, slotsPerEpoch } = useChain();
  const first = epoch * slotsPerEpoch;
  const last = first + slotsPerEpoch - 1;
  const isFinal = last <= Number(head.finalized_slot);
  // The blocks of a final epoch do not change.
  const counts = useLoaded(
    (signal) => countBlocks(first, Math.min(last, time.slot), time.slot, signal),
    [epoch, isFinal || head.head_block_root, Math.min(last, time.slot)],
  );
  const cell = (value: number | undefined) =>
    counts.error === undefined ? (value ?? html`<span class="placeholder"></span>`) : "–";
  return html`<tr aria-busy=${counts.value === undefined && counts.error === undefined}>
    <th scope="row"><${EpochLink} epoch=${epoch} /></th>
    <td><${EpochStatus} epoch=${epoch} /></td>
    <td><${EpochParticipation} epoch=${epoch} /></td>
    <td><${SlotLink} slot=${first} /> to <${SlotLink} slot=${last} /></td>
    <td>${cell(counts.value?.blocks)}</td>
    <td>${cell(counts.value?.missed)}</td>
    <td>${cell(counts.value?.orphaned)}</td>
  </tr>`;
}

/** Counts blocks and empty slots. The current slot may still get a block. */
async function countBlocks(first: number, last: number, currentSlot: number, signal: AbortSignal) {
  const slots = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const answers = await node.batch(
    slots.map((slot) => ["get_v1_beacon_headers", { slot }] as const),
    { signal },
  );
  const headers = resultsOf(answers);
  const hasBlock = headers.map((found) => found.some(({ canonical }) => canonical));
  return {
    blocks: hasBlock.filter(Boolean).length,
    missed: slots.filter((slot, index) => !hasBlock[index] && slot < currentSlot).length,
    orphaned: headers.flat().filter(({ canonical }) => !canonical).length,
  };
}
