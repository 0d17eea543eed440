import { createHash } from "node:crypto";
import { BYTES_PER_FIELD_ELEMENT, CELLS_PER_EXT_BLOB, ForkSeq } from "@lodestar/params";
import type { BeaconBlock, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { blobSidecarsOf } from "../../../../src/data/blob-sidecars.ts";
import { columnFrameOf, columnSidecarsOf } from "../../../../src/data/column-sidecars.ts";
import type { Kzg } from "../../../../src/data/kzg/kzg.ts";
import type { HeaderSidecar } from "../../../../src/data/sidecar.ts";
import type { PayloadBlobs, PooledBlob } from "../../../../src/execution/engine.ts";
import { BLOB_BYTES } from "../../data/kzg/fake-kzg.ts";
import type { TestChain } from "../validation/validation-chain.ts";

/**
 * Creates a distinct blob by name. Each field element is a hash with a zero first byte, so that it is below the
 * modulus.
 */
export function blobOf(name: string): Uint8Array {
  const blob = new Uint8Array(BLOB_BYTES);
  for (let at = 0; at < BLOB_BYTES; at += BYTES_PER_FIELD_ELEMENT) {
    blob.set(createHash("sha256").update(`${name} ${at}`).digest().subarray(1), at + 1);
  }
  return blob;
}

export interface BlockWithBlobs {
  signed: SignedBeaconBlock;
  root: RootHex;
  blobs: Uint8Array[];
  /** As in an execution client's pool. */
  pooled: PooledBlob[];
  /** All of them, in order. */
  sidecars: HeaderSidecar[];
}

interface BlobsOptions {
  count?: number;
  kzg?: Kzg;
  /** Blobs with precomputed real commitments and proofs. */
  bundle?: PayloadBlobs;
  parent?: RootHex;
  change?: (block: BeaconBlock) => void;
}

/** A valid block, except that its payload lacks the blobs. `change` runs before signing. */
export async function produceWithBlobs(
  chain: TestChain,
  slot: Slot,
  { count = 2, kzg = chain.kzg, bundle, parent, change = () => {} }: BlobsOptions = {},
): Promise<BlockWithBlobs> {
  const { config } = chain;
  const hasCells = config.getForkSeq(slot) >= ForkSeq.fulu;
  const { blobs, commitments, proofs, cells = [] } = bundle ?? (await computedBundle(kzg, { count, hasCells }));
  const block = chain.produce(slot, {
    parent,
    change(message) {
      if ("blobKzgCommitments" in message.body) message.body.blobKzgCommitments = commitments;
      change(message);
    },
  });
  const proofsPerBlob = hasCells ? CELLS_PER_EXT_BLOB : 1;
  const pooled = blobs.map((blob, index) => ({
    blob,
    proofs: proofs.slice(index * proofsPerBlob, (index + 1) * proofsPerBlob),
  }));
  if (!hasCells) return { ...block, blobs, pooled, sidecars: blobSidecarsOf(config, block.signed, { blobs, proofs }) };
  const extended = pooled.map(({ proofs }, index) => ({ cells: cells[index]!, proofs }));
  const sidecars = columnSidecarsOf(columnFrameOf(config, block.signed), extended) as HeaderSidecar[];
  return { ...block, blobs, pooled, sidecars };
}

async function computedBundle(
  kzg: Kzg,
  { count, hasCells }: { count: number; hasCells: boolean },
): Promise<PayloadBlobs> {
  const blobs = Array.from({ length: count }, (_, index) => blobOf(`blob ${index}`));
  const commitments = await Promise.all(blobs.map((blob) => kzg.commitmentOf(blob)));
  if (!hasCells) {
    const proofs = await Promise.all(blobs.map((blob, index) => kzg.blobProofOf(blob, commitments[index]!)));
    return { blobs, commitments, proofs };
  }
  const extended = await Promise.all(blobs.map((blob) => kzg.cellsAndProofsOf(blob)));
  return {
    blobs,
    commitments,
    proofs: extended.flatMap(({ proofs }) => proofs),
    cells: extended.map(({ cells }) => cells),
  };
}
