import { createHash } from "node:crypto";
import { BYTES_PER_FIELD_ELEMENT, FIELD_ELEMENTS_PER_BLOB, type ForkName, isForkPostFulu } from "@lodestar/params";
import type { BlobsBundle } from "@lodestar/types";
import type { Kzg } from "../../src/data/kzg.ts";

const BLOB_BYTES = BYTES_PER_FIELD_ELEMENT * FIELD_ELEMENTS_PER_BLOB;

/** A blob like no other of another name: every field element is a hash whose first byte is zero, so that it is below the modulus. */
export function blobOf(name: string): Uint8Array {
  const blob = new Uint8Array(BLOB_BYTES);
  for (let at = 0; at < BLOB_BYTES; at += BYTES_PER_FIELD_ELEMENT) {
    blob.set(createHash("sha256").update(`${name} ${at}`).digest().subarray(1), at + 1);
  }
  return blob;
}

/** What an execution client gives with a payload that has these blobs. */
export async function bundleOf(kzg: Kzg, fork: ForkName, blobs: readonly Uint8Array[]): Promise<BlobsBundle> {
  const commitments = await Promise.all(blobs.map((blob) => kzg.commitmentOf(blob)));
  const proofs = await Promise.all(
    blobs.map(async (blob, index) =>
      isForkPostFulu(fork)
        ? (await kzg.cellsAndProofsOf(blob)).proofs
        : [await kzg.blobProofOf(blob, commitments[index]!)],
    ),
  );
  return { commitments, proofs: proofs.flat(), blobs: [...blobs] };
}
