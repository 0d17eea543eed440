import { createKeccak } from "hash-wasm";
import type { Keccak } from "./state/trie.ts";

/** Creates a hash function in WASM, which runs on every platform. One for each thread. */
export async function createKeccak256(): Promise<Keccak> {
  const hasher = await createKeccak(256);
  return (bytes) => hasher.init().update(bytes).digest("binary");
}
