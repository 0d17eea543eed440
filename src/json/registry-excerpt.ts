import { VALIDATOR_BYTES } from "../ssz/validator-layout.ts";
import { BALANCE_BYTES, type Chunks, chunkBytes, VALIDATORS_PER_CHUNK } from "./registry-chunks.ts";
import { writtenAtOnce } from "./shared-stream.ts";
import { ANY_STATUS } from "./validator-status.ts";

/** What is told of a few validators: of one alone, of each in a list, or nothing but their balances. */
export type Excerpt = "validator" | "validators" | "balances";

/** All validators of a state, in memory that threads share. */
export interface SharedRegistry {
  validatorChunks: Chunks;
  balanceChunks: Chunks;
  /** For which the statuses are. */
  epoch: number;
}

export const validatorCount = ({ balanceChunks }: SharedRegistry): number => chunkBytes(balanceChunks) / BALANCE_BYTES;

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
