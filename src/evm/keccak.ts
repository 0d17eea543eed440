import { createKeccak } from "hash-wasm";
import type { Keccak } from "./state/trie.ts";

/** Creates a WASM hash function. Each thread needs its own instance. */
export async function createKeccak256(): Promise<Keccak> {
  const hasher = await createKeccak(256);
  return (bytes) => hasher.init().update(bytes).digest("binary");
}
