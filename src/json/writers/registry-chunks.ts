/** Validators per chunk. The last chunk may have fewer. */
export const VALIDATORS_PER_CHUNK = 4096;
export const BALANCE_BYTES = 8;
export const INDEX_BYTES = 8;
export const EPOCH_BYTES = 8;

/** SSZ bytes of validators or balances in immutable shared memory. */
export type Chunks = readonly SharedArrayBuffer[];

export const chunkBytes = (chunks: Chunks): number => chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** A selection of a state's validators, in ascending order. */
export interface ValidatorSelection {
  /** Indices of the selected validators in the chunks. Omitted if all are selected. */
  indices?: Uint32Array | undefined;
}
