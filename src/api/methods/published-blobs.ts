import { CELLS_PER_EXT_BLOB } from "@lodestar/params";
import type { SignedBlockContents } from "@lodestar/types";
import { blockRoot } from "../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { BlobsAndProofs } from "../../chain/data/data-availability.ts";
import { ALL_COLUMNS } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import { type DataSidecar, isColumn } from "../../data/sidecar.ts";
import { rejected } from "../../failure.ts";

/** Fulu has a proof for each cell of a blob (EIP-7594), deneb one for the whole blob. */
export function requireBlobs({ data }: BeaconChain, contents: SignedBlockContents): void {
  const { signedBlock } = contents;
  const { blobs, proofs } = blobsOf(contents);
  const { length } = commitmentsOf(signedBlock);
  const proofCount = length === 0 ? 0 : length * proofsPerBlob(data.hasColumns(signedBlock.message.slot));
  if (blobs.length === length && proofs.length === proofCount) return;
  throw refused(
    `The block commits to ${length} blobs, which takes as many blobs and ${proofCount} proofs, but ${blobs.length} ` +
      `blobs and ${proofs.length} proofs came with it.`,
  );
}

/** Makes the sidecars of a block that was published with its blobs, and has the chain take them; none where it has no blobs. */
export async function takeSidecars(chain: BeaconChain, contents: SignedBlockContents): Promise<DataSidecar[]> {
  const { config, data } = chain;
  const given = blobsOf(contents);
  if (given.blobs.length === 0) return [];
  const { signedBlock: signed } = contents;
  const root = blockRoot(config, signed.message);
  let sidecars: DataSidecar[];
  try {
    sidecars = await data.sidecarsOf(signed, given);
    await data.take({ signed, root }, sidecars);
  } catch (error) {
    const wrong = await wrongBlob(chain, contents);
    if (wrong === undefined) throw error;
    throw refused(`Blob ${wrong} and its proofs are not what the block commits to.`);
  }
  tell(chain, root, sidecars);
  return sidecars;
}

export function refused(reason: string) {
  return rejected(`The block was rejected: ${reason}`, { detail: reason });
}

/** Before deneb there are none. */
function blobsOf(contents: SignedBlockContents): BlobsAndProofs {
  return "blobs" in contents ? { blobs: contents.blobs, proofs: contents.kzgProofs } : { blobs: [], proofs: [] };
}

const proofsPerBlob = (hasColumns: boolean): number => (hasColumns ? CELLS_PER_EXT_BLOB : 1);

/** The first that is wrong, each looked at alone; undefined when none is. */
async function wrongBlob({ data }: BeaconChain, contents: SignedBlockContents): Promise<number | undefined> {
  const { kzg } = data;
  const { signedBlock } = contents;
  const hasColumns = data.hasColumns(signedBlock.message.slot);
  const { blobs, proofs } = blobsOf(contents);
  const commitments = commitmentsOf(signedBlock);
  for (const [index, blob] of blobs.entries()) {
    const commitment = commitments[index]!;
    const ofBlob = proofs.slice(index * proofsPerBlob(hasColumns), (index + 1) * proofsPerBlob(hasColumns));
    if (!hasColumns) {
      if (!(await kzg.verifyBlobs({ blobs: [blob], commitments: [commitment], proofs: ofBlob }))) return index;
      continue;
    }
    // Of bytes that are no elements of the field, no cells can be made.
    const cells = await kzg.cellsOf(blob).catch(() => null);
    if (cells === null) return index;
    const batch = { commitments: cells.map(() => commitment), cellIndices: ALL_COLUMNS, cells, proofs: ofBlob };
    if (!(await kzg.verifyCells(batch))) return index;
  }
  return undefined;
}

function tell({ events }: BeaconChain, root: string, sidecars: readonly DataSidecar[]): void {
  for (const sidecar of sidecars) {
    const { slot } = sidecar.signedBlockHeader.message;
    if (isColumn(sidecar)) events.publish("columnSidecar", { root, slot, sidecar });
    else events.publish("blobSidecar", { root, slot, sidecar });
  }
}
