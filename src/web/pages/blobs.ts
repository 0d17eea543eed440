import { html } from "htm/preact";
import { byteSize, counted, grouped } from "../format.ts";
import { useChain } from "../live.ts";
import { node, resultsOf } from "../node.ts";
import { numeric } from "../parts/column.ts";
import { Table } from "../parts/fields.ts";
import { BlockLink, SlotLink } from "../parts/links.ts";
import { Problem, Show, useLoaded } from "../parts/loading.ts";
import { RangeNav } from "../parts/range-nav.ts";

const SHOWN_SLOTS = 32;
/** Size of a blob: 4096 elements of 32 bytes, in every fork. */
const BLOB_BYTES = 4096 * 32;

/**
 * Lists recent blocks that have blobs. The subject is the newest slot; if there is no subject, the list follows the
 * head.
 */
export function BlobsPage({ subject }: { subject: string | undefined }) {
  const { head } = useChain();
  const headSlot = Number(head.head_slot);
  const isValid = subject === undefined || /^\d{1,15}$/.test(subject);
  const newest = subject === undefined || !isValid ? headSlot : Math.min(Number(subject), headSlot);
  const oldest = Math.max(0, newest - SHOWN_SLOTS + 1);
  const newer = newest + SHOWN_SLOTS;
  // Final blocks do not change.
  const isFinal = newest <= Number(head.finalized_slot);
  const blocks = useLoaded((signal) => readBlocks(oldest, newest, signal), [newest, isFinal || head.head_block_root]);
  if (!isValid) return html`<${Problem}>Invalid slot ${subject}. Slots are whole numbers.<//>`;
  return html`<h1>Blobs</h1>
    <${RangeNav} label="Other slots" text=${`Slots ${grouped(oldest)} to ${grouped(newest)}`}
      older=${oldest > 0 ? `#/blobs/${oldest - 1}` : undefined}
      newer=${newest < headSlot ? (newer >= headSlot ? "#/blobs" : `#/blobs/${newer}`) : undefined} latest="#/blobs" />
    <${Show} of=${blocks}>${(of: BlobCount[]) => html`<${Blocks} of=${of} />`}<//>`;
}

function Blocks({ of }: { of: readonly BlobCount[] }) {
  const withBlobs = of.filter(({ blobs }) => blobs > 0);
  return html`<${Table} caption="Blocks with blobs" empty="" head=${["slot", numeric("blobs"), numeric("size"), "block"]}
      rows=${withBlobs.map(({ slot, root, blobs }) => [
        html`<${SlotLink} slot=${slot} />`,
        blobs,
        byteSize(blobs * BLOB_BYTES),
        html`<${BlockLink} root=${root} />`,
      ])} />
    <p class="waiting">${counted(of.length - withBlobs.length, "block")} without blobs.</p>`;
}

interface BlobCount {
  slot: number;
  root: string;
  blobs: number;
}

/** Blob counts by block root, which never change. */
const blobCounts = new Map<string, number>();
const MAX_CACHED_COUNTS = 4096;

/** Returns the canonical blocks in a range of slots with their blob counts, newest first. */
async function readBlocks(oldest: number, newest: number, signal: AbortSignal): Promise<BlobCount[]> {
  const slots = Array.from({ length: newest - oldest + 1 }, (_, back) => newest - back);
  const headers = await node.batch(
    slots.map((slot) => ["get_v1_beacon_headers", { slot }] as const),
    { signal },
  );
  const blocks = resultsOf(headers).flatMap((found, index) => {
    const root = found.find(({ canonical }) => canonical)?.root;
    return root === undefined ? [] : [{ slot: slots[index]!, root }];
  });
  const unknown = blocks.filter(({ root }) => !blobCounts.has(root));
  // Blinded blocks contain the commitments but not the transactions.
  const bodies = await node.batch(
    unknown.map(({ root }) => ["get_v1_beacon_blinded_blocks_blockId", { block_id: root }] as const),
    { signal },
  );
  if (blobCounts.size > MAX_CACHED_COUNTS) blobCounts.clear();
  for (const [index, { message }] of resultsOf(bodies).entries()) {
    const { body } = message as { body: { blob_kzg_commitments?: string[] } };
    // Blocks before deneb have no blobs.
    blobCounts.set(unknown[index]!.root, body.blob_kzg_commitments?.length ?? 0);
  }
  return blocks.map((block) => ({ ...block, blobs: blobCounts.get(block.root) ?? 0 }));
}
