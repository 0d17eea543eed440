/** Validators whose bytes lie in one chunk of shared memory; the last chunk may have fewer. */
export const VALIDATORS_PER_CHUNK = 4096;
/** A validator in SSZ. */
export const VALIDATOR_BYTES = 121;
export const BALANCE_BYTES = 8;

/** The validators of a state and their balances in SSZ, in shared memory that is never written again. */
export interface RegistryChunks {
  count: number;
  validatorChunks: SharedArrayBuffer[];
  balanceChunks: SharedArrayBuffer[];
}
