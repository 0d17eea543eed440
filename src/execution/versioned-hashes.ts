import { createHash } from "node:crypto";
import { VERSIONED_HASH_VERSION_KZG } from "@lodestar/params";

/** deneb/beacon-chain.md, kzg_commitment_to_versioned_hash. */
export function versionedHashesOf(commitments: readonly Uint8Array[]): Uint8Array[] {
  return commitments.map((commitment) => {
    const hash = new Uint8Array(createHash("sha256").update(commitment).digest());
    hash[0] = VERSIONED_HASH_VERSION_KZG;
    return hash;
  });
}
