import { type KeyTable, NO_KEY, slotOfKey } from "../key-table.ts";
import { PUBKEY_BYTES, VALIDATOR_BYTES } from "../ssz/validator-layout.ts";
import { BALANCE_BYTES, type Chunks, chunkBytes, VALIDATORS_PER_CHUNK } from "./registry-chunks.ts";
import { writtenAtOnce } from "./shared-stream.ts";
import { ANY_STATUS } from "./validator-status.ts";

/** What is told of a few validators: of one alone, of each in a list, or nothing but their balances. */
export type Excerpt = "validator" | "validators" | "balances";

/** All validators of a state, in memory that threads share. */
export interface SharedRegistry {
  validatorChunks: Chunks;
  balanceChunks: Chunks;
  /** Of the whole chain: it may know validators that are not there, or have another place. */
  keyTable: KeyTable;
  /** For which the statuses are. */
  epoch: number;
}

export const validatorCount = ({ balanceChunks }: SharedRegistry): number => chunkBytes(balanceChunks) / BALANCE_BYTES;

/** The index of the validator with that public key; undefined when none is found. */
export function indexOfKey(registry: SharedRegistry, key: Uint8Array): number | undefined {
  const { keyTable, validatorChunks } = registry;
  const count = validatorCount(registry);
  const isKeyOf = (index: number): boolean => {
    if (index >= count) return false;
    const start = (index % VALIDATORS_PER_CHUNK) * VALIDATOR_BYTES;
    const chunk = validatorChunks[Math.floor(index / VALIDATORS_PER_CHUNK)]!;
    return Buffer.compare(new Uint8Array(chunk, start, PUBKEY_BYTES), key) === 0;
  };
  const entry = keyTable.slots[slotOfKey(keyTable, key, isKeyOf)]!;
  return entry === NO_KEY ? undefined : entry - 1;
}

/** The standard's JSON of the validators of these indices, which ascend and are all there. */
export function writeExcerpt(excerpt: Excerpt, registry: SharedRegistry, indices: Uint32Array): Buffer {
  const balanceChunks = gathered(registry.balanceChunks, BALANCE_BYTES, indices);
  if (excerpt === "balances") return writtenAtOnce({ writer: "balances", input: { indices, balanceChunks } });
  const validatorChunks = gathered(registry.validatorChunks, VALIDATOR_BYTES, indices);
  const input = { indices, validatorChunks, balanceChunks, epoch: registry.epoch, statuses: ANY_STATUS };
  const list = writtenAtOnce({ writer: "validators", input });
  return excerpt === "validator" ? list.subarray(1, -1) : list;
}

function gathered(chunks: Chunks, recordBytes: number, indices: Uint32Array): Chunks {
  const chunk = new SharedArrayBuffer(indices.length * recordBytes);
  const into = new Uint8Array(chunk);
  for (const [position, index] of indices.entries()) {
    const start = (index % VALIDATORS_PER_CHUNK) * recordBytes;
    const source = chunks[Math.floor(index / VALIDATORS_PER_CHUNK)]!;
    into.set(new Uint8Array(source, start, recordBytes), position * recordBytes);
  }
  return [chunk];
}
