/** How many validators have their bytes in one chunk; the last chunk may have fewer. */
export const VALIDATORS_PER_CHUNK = 4096;
/** A validator in SSZ. */
export const VALIDATOR_BYTES = 121;
export const BALANCE_BYTES = 8;
export const INDEX_BYTES = 8;
export const EPOCH_BYTES = 8;

/** Where the fields of a validator begin. */
export const FIELDS = {
  pubkey: 0,
  withdrawalCredentials: 48,
  effectiveBalance: 80,
  slashed: 88,
  activationEligibilityEpoch: 89,
  activationEpoch: 97,
  exitEpoch: 105,
  withdrawableEpoch: 113,
} as const;
export const PUBKEY_BYTES = 48;
export const CREDENTIALS_BYTES = 32;

/** SSZ bytes of validators or of balances, in shared memory that is never written again. */
export type Chunks = readonly SharedArrayBuffer[];

export const chunkBytes = (chunks: Chunks): number => chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Validators of a state, by ascending index. */
export interface Listed {
  /** Of whom the chunks tell, one after the other; left out when that is everybody. */
  indices?: Uint32Array | undefined;
}
