/** How many validators have their bytes in one chunk; the last chunk may have fewer. */
export const VALIDATORS_PER_CHUNK = 4096;
export const BALANCE_BYTES = 8;
export const INDEX_BYTES = 8;
export const EPOCH_BYTES = 8;

/** SSZ bytes of validators or of balances, in shared memory that is never written again. */
export type Chunks = readonly SharedArrayBuffer[];

export const chunkBytes = (chunks: Chunks): number => chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Validators of a state, by ascending index. */
export interface Listed {
  /** Of whom the chunks tell, one after the other; left out when that is everybody. */
  indices?: Uint32Array | undefined;
}
