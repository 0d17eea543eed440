import type { Keccak } from "./trie.ts";

/** Enough for the addresses and slots used in the last few blocks. */
const GENERATION_SIZE = 20_000;

/** Converts bytes to a map key. */
export const keyOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

/**
 * Caches hashes of addresses and slots, most of which recur in every block. Evicts entries that have been unused for a
 * generation.
 */
export class KeyHashes {
  readonly #keccak: Keccak;
  #young = new Map<string, Uint8Array>();
  #old = new Map<string, Uint8Array>();

  constructor(keccak: Keccak) {
    this.#keccak = keccak;
  }

  /** Returns the hash of the bytes encoded by the key. */
  of(key: string): Uint8Array {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const hash = this.#old.get(key) ?? this.#keccak(Buffer.from(key, "latin1"));
    if (this.#young.size >= GENERATION_SIZE) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, hash);
    return hash;
  }
}
