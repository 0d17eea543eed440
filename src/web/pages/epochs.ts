import { html } from "htm/preact";
import { countSlots } from "../chain-tree.ts";
import { grouped } from "../format.ts";
import { useChain } from "../live.ts";
import { node, resultsOf } from "../node.ts";
import { cellClass, minor, minorNumeric, numeric } from "../parts/column.ts";
import { EpochParticipation } from "../parts/epoch-participation.ts";
import { EpochLink, SlotLink } from "../parts/links.ts";
import { Problem, useLoaded } from "../parts/loading.ts";
import { RangeNav } from "../parts/range-nav.ts";
import { EpochStatus } from "../parts/status.ts";

const SHOWN_EPOCHS = 20;
const COLUMNS = [
  { label: "epoch" },
  { label: "status" },
  numeric("participation"),
  minor("slots"),
  minorNumeric("proposed"),
  numeric("missed"),
  numeric("orphaned"),
];

/**
 * Lists epochs, newest first. The subject is the first epoch to show; if there is no subject, the list follows the
 * chain.
 */
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
    <${RangeNav} label="Other epochs" text=${`Epochs ${grouped(oldest)} to ${grouped(newest)}`}
      older=${oldest > 0 ? `#/epochs/${oldest - 1}` : undefined}
      newer=${newest < current ? (newer >= current ? "#/epochs" : `#/epochs/${newer}`) : undefined} latest="#/epochs" />
    <div class="scroll" tabindex="0" role="region" aria-label="Epochs">
      <table>
        <thead><tr>
          ${COLUMNS.map((column) => html`<th scope="col" class=${cellClass(column)}>${column.label}</th>`)}
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
  // Blocks in a final epoch do not change.
  const counts = useLoaded(
    (signal) => countBlocks(first, Math.min(last, time.slot), time.slot, signal),
    [epoch, isFinal || head.head_block_root, Math.min(last, time.slot)],
  );
  const cell = (value: number | undefined) =>
    counts.error === undefined ? (value ?? html`<span class="placeholder"></span>`) : "–";
  return html`<tr aria-busy=${counts.value === undefined && counts.error === undefined}>
    <th scope="row"><${EpochLink} epoch=${epoch} /></th>
    ${[
      html`<${EpochStatus} epoch=${epoch} />`,
      html`<${EpochParticipation} epoch=${epoch} />`,
      html`<${SlotLink} slot=${first} /> to <${SlotLink} slot=${last} />`,
      cell(counts.value?.proposed),
      cell(counts.value?.missed),
      cell(counts.value?.orphaned),
    ].map((content, index) => html`<td class=${cellClass(COLUMNS[index + 1]!)}>${content}</td>`)}
  </tr>`;
}

/** Counts the slots with and without blocks. The current slot may still get a block. */
async function countBlocks(first: number, last: number, currentSlot: number, signal: AbortSignal) {
  const slots = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const answers = await node.batch(
    slots.map((slot) => ["get_v1_beacon_headers", { slot }] as const),
    { signal },
  );
  const blocks = resultsOf(answers).flatMap((headers, index) =>
    headers.map(({ canonical }) => ({ slot: slots[index]!, isCanonical: canonical })),
  );
  const hasCurrent = blocks.some(({ slot, isCanonical }) => slot === currentSlot && isCanonical);
  return countSlots(blocks, first, hasCurrent ? last : Math.min(last, currentSlot - 1));
}
