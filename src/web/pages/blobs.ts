import { html } from "htm/preact";
import { byteSize, grouped } from "../format.ts";
import { useChain } from "../live.ts";
import { node } from "../node.ts";
import { BlockLink, SlotLink } from "../parts/links.ts";
import { Problem, useLoaded } from "../parts/loading.ts";

const SHOWN_SLOTS = 32;
/** Size of a blob: 4096 elements of 32 bytes, in every fork. */
const BLOB_BYTES = 4096 * 32;

/** Lists how many blobs recent blocks have. The subject is the newest slot; without it the list follows the head. */
export function BlobsPage({ subject }: { subject: string | undefined }) {
  const { head } = useChain();
  const headSlot = Number(head.head_slot);
  if (subject !== undefined && !/^\d{1,15}$/.test(subject))
    return html`<${Problem}>Invalid slot ${subject}. Slots are whole numbers.<//>`;
  const newest = Math.min(subject === undefined ? headSlot : Number(subject), headSlot);
  const slots = Array.from({ length: Math.min(SHOWN_SLOTS, newest + 1) }, (_, back) => newest - back);
  const oldest = slots.at(-1)!;
  const newer = newest + SHOWN_SLOTS;
  return html`<h1>Blobs</h1>
    <nav class="buttons" aria-label="Other slots">
      ${newest < headSlot && html`<a href="#/blobs">latest</a> <a href=${newer >= headSlot ? "#/blobs" : `#/blobs/${newer}`}>← newer</a>`}
      <span>Slots ${grouped(oldest)} to ${grouped(newest)}</span>
      ${oldest > 0 && html`<a href=${`#/blobs/${oldest - 1}`}>older →</a>`}
    </nav>
    <div class="scroll" tabindex="0" role="region" aria-label="Blobs by slot">
      <table>
        <thead><tr>${["slot", "block", "blobs", "size"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${slots.map((slot) => html`<${SlotRow} key=${slot} slot=${slot} />`)}</tbody>
      </table>
    </div>`;
}

/** Found block of a slot. */
interface Found {
  root: string;
  /** Undefined before deneb. */
  blobs: number | undefined;
}

function SlotRow({ slot }: { slot: number }) {
  const { head } = useChain();
  // Final blocks do not change.
  const isFinal = slot <= Number(head.finalized_slot);
  const found = useLoaded((signal) => readSlot(slot, signal), [slot, isFinal || head.head_block_root]);
  const block = found.value?.block;
  const isPending = found.value === undefined && found.error === undefined;
  const pending = html`<span class="placeholder"></span>`;
  return html`<tr aria-busy=${isPending}>
    <th scope="row"><${SlotLink} slot=${slot} /></th>
    <td>${isPending ? pending : block ? html`<${BlockLink} root=${block.root} />` : (found.error ?? "no block")}</td>
    <td>${isPending ? pending : (block?.blobs ?? "–")}</td>
    <td>${isPending ? pending : block?.blobs ? byteSize(block.blobs * BLOB_BYTES) : "–"}</td>
  </tr>`;
}

/** Reads the blinded block, which has the commitments without the transactions. */
async function readSlot(slot: number, signal: AbortSignal): Promise<{ block: Found | undefined }> {
  const headers = await node.get_v1_beacon_headers({ slot }, { signal });
  const root = headers.find(({ canonical }) => canonical)?.root;
  if (root === undefined) return { block: undefined };
  const { message } = await node.get_v1_beacon_blinded_blocks_blockId({ block_id: root }, { signal });
  const { body } = message as { body: { blob_kzg_commitments?: string[] } };
  return { block: { root, blobs: body.blob_kzg_commitments?.length } };
}
