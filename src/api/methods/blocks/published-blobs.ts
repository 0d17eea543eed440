import { CELLS_PER_EXT_BLOB } from "@lodestar/params";
import type { deneb, SignedBlockContents } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { bidOf } from "../../../chain/blocks/bid.ts";
import { blockRoot } from "../../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import type { BlobsAndProofs } from "../../../chain/data/data-availability.ts";
import { ALL_COLUMNS } from "../../../data/column-sidecars.ts";
import { commitmentsOf } from "../../../data/commitments.ts";
import type { DataSidecar } from "../../../data/sidecar.ts";
import { rejected } from "../../../errors/failure.ts";
import type { PayloadBlobs } from "../../../execution/engine.ts";

/**
 * Throws unless the number of blobs and the number of proofs match the block's commitments. Fulu has one proof per cell
 * (EIP-7594), and deneb one per blob.
 */
export function requireBlobCount({ data }: BeaconChain, contents: SignedBlockContents): void {
  const { signedBlock } = contents;
  const { blobs, proofs } = blobsOf(contents);
  const { length } = commitmentsOf(signedBlock);
  const proofCount = length === 0 ? 0 : length * proofsPerBlob(data.hasColumns(signedBlock.message.slot));
  if (blobs.length === length && proofs.length === proofCount) return;
  throw blockRejected(
    `The block commits to ${length} blobs, which requires ${length} blobs and ${proofCount} proofs, but ${blobs.length} ` +
      `blobs and ${proofs.length} proofs were given.`,
  );
}

/** Creates and verifies the sidecars for a published block. Throws if the blobs do not match the commitments. */
export async function createSidecars(chain: BeaconChain, contents: SignedBlockContents): Promise<DataSidecar[]> {
  const { config, data } = chain;
  const publishedBlobs = blobsOf(contents);
  if (publishedBlobs.blobs.length === 0) return [];
  const { signedBlock: signed } = contents;
  const block = { signed, root: blockRoot(config, signed.message) };
  try {
    const built = builtBlobs(chain, contents);
    const sidecars = await data.sidecarsOf(signed, built ?? publishedBlobs);
    if (built === undefined) await data.verify([{ block, sidecars }]);
    return sidecars;
  } catch (error) {
    const invalid = await findInvalidBlob(chain, contents);
    if (invalid === undefined) throw error;
    throw blockRejected(`Blob ${invalid} or its proofs do not match the block's commitment.`);
  }
}

/** Returns the error for a rejected block. */
export function blockRejected(reason: string) {
  return rejected(`The block was rejected: ${reason}`, { detail: reason });
}

/**
 * Returns the blobs that the execution engine built if they were published unchanged, in which case they need no
 * verification.
 */
function builtBlobs({ producer }: BeaconChain, contents: SignedBlockContents): PayloadBlobs | undefined {
  const { signedBlock } = contents;
  const { body } = signedBlock.message;
  const { blockHash } = bidOf({ body }) ?? (body as deneb.BeaconBlockBody).executionPayload;
  const bundle = producer.builtPayload(toRootHex(blockHash))?.blobsBundle;
  if (bundle === undefined) return undefined;
  const { blobs, proofs } = blobsOf(contents);
  const isUnchanged =
    areEqual(bundle.commitments, commitmentsOf(signedBlock)) &&
    areEqual(bundle.blobs, blobs) &&
    areEqual(bundle.proofs, proofs);
  return isUnchanged ? bundle : undefined;
}

function areEqual(some: readonly Uint8Array[], others: readonly Uint8Array[]): boolean {
  return some.length === others.length && some.every((bytes, index) => Buffer.compare(bytes, others[index]!) === 0);
}

/** Returns the blobs and proofs in block contents, of which there are none before deneb. */
function blobsOf(contents: SignedBlockContents): BlobsAndProofs {
  return "blobs" in contents ? { blobs: contents.blobs, proofs: contents.kzgProofs } : { blobs: [], proofs: [] };
}

const proofsPerBlob = (hasColumns: boolean): number => (hasColumns ? CELLS_PER_EXT_BLOB : 1);

/** Returns the index of the first invalid blob, or undefined if all are valid. Verifies each blob separately. */
async function findInvalidBlob({ data }: BeaconChain, contents: SignedBlockContents): Promise<number | undefined> {
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
    // Fails if the bytes are not BLS field elements.
    const cells = await kzg.cellsOf(blob).catch(() => null);
    if (cells === null) return index;
    const batch = { commitments: cells.map(() => commitment), cellIndices: ALL_COLUMNS, cells, proofs: ofBlob };
    if (!(await kzg.verifyCells(batch))) return index;
  }
  return undefined;
}
