import { type Sidecar, versionedHashOf } from "./sidecar.ts";

interface StoredSidecar {
  sidecar: Sidecar;
  versionedHashes: string[];
  /** True if the transaction is in the pool. */
  isPooled: boolean;
}

/** A blob with its proofs. */
export interface StoredBlob {
  sidecar: Sidecar;
  /** Index of the blob within the sidecar. */
  index: number;
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/**
 * Sidecars of pooled and recently included transactions. Sidecars are kept after inclusion because the consensus layer
 * requests their blobs, and because a reorg returns the transactions to the pool. Included sidecars are evicted in
 * order of inclusion.
 */
export class BlobStore {
  readonly #maxIncludedBlobs: number;
  readonly #sidecars = new Map<string, StoredSidecar>();
  readonly #blobs = new Map<string, StoredBlob>();
  #pooledBlobs = 0;
  #includedBlobs = 0;

  constructor(maxIncludedBlobs: number) {
    this.#maxIncludedBlobs = maxIncludedBlobs;
  }

  get pooledBlobs(): number {
    return this.#pooledBlobs;
  }

  sidecar(key: string): Sidecar | undefined {
    return this.#sidecars.get(key)?.sidecar;
  }

  blob(versionedHash: Uint8Array): StoredBlob | undefined {
    return this.#blobs.get(hexOf(versionedHash));
  }

  add(key: string, sidecar: Sidecar): void {
    this.delete(key);
    const versionedHashes = sidecar.commitments.map((commitment) => hexOf(versionedHashOf(commitment)));
    this.#sidecars.set(key, { sidecar, versionedHashes, isPooled: true });
    for (const [index, hash] of versionedHashes.entries()) this.#blobs.set(hash, { sidecar, index });
    this.#pooledBlobs += sidecar.blobs.length;
  }

  /** Keeps the sidecar for a while after its transaction has left the pool. */
  markIncluded(key: string): void {
    const stored = this.#sidecars.get(key);
    if (stored === undefined || !stored.isPooled) return;
    stored.isPooled = false;
    // Move the sidecar to the end of the eviction order.
    this.#sidecars.delete(key);
    this.#sidecars.set(key, stored);
    this.#pooledBlobs -= stored.sidecar.blobs.length;
    this.#includedBlobs += stored.sidecar.blobs.length;
    for (const [oldest, { isPooled }] of this.#sidecars) {
      if (this.#includedBlobs <= this.#maxIncludedBlobs) return;
      if (!isPooled) this.delete(oldest);
    }
  }

  delete(key: string): void {
    const stored = this.#sidecars.get(key);
    if (stored === undefined) return;
    this.#sidecars.delete(key);
    const { sidecar, versionedHashes, isPooled } = stored;
    for (const hash of versionedHashes) if (this.#blobs.get(hash)?.sidecar === sidecar) this.#blobs.delete(hash);
    if (isPooled) this.#pooledBlobs -= sidecar.blobs.length;
    else this.#includedBlobs -= sidecar.blobs.length;
  }
}
