/** Gas costs since Paris, named as in the execution specification where possible. `rules.ts` has those that forks change. */
export const BASE_GAS = 2;
export const VERY_LOW_GAS = 3;
export const LOW_GAS = 5;
export const MID_GAS = 8;
export const HIGH_GAS = 10;
export const JUMPDEST_GAS = 1;
export const BLOCKHASH_GAS = 20;
export const EXP_GAS = 10;
export const EXP_BYTE_GAS = 50;
export const KECCAK_GAS = 30;
export const KECCAK_WORD_GAS = 6;
export const COPY_WORD_GAS = 3;
export const MEMORY_WORD_GAS = 3;
export const MEMORY_SQUARE_DIVISOR = 512;
export const LOG_GAS = 375;
export const LOG_TOPIC_GAS = 375;
export const LOG_BYTE_GAS = 8;

/** State access (EIP-2929). */
export const WARM_ACCESS_GAS = 100;
export const COLD_SLOT_GAS = 2100;
export const TRANSIENT_STORAGE_GAS = 100;

/** Storage writes (EIP-2200, EIP-2929, EIP-3529). */
export const SSTORE_SENTRY_GAS = 2300;
export const SSTORE_SET_GAS = 20_000;
export const SSTORE_RESET_GAS = 2900;
export const SSTORE_CLEAR_REFUND = 4800;

export const CALL_STIPEND = 2300;
export const NEW_ACCOUNT_GAS = 25_000;
export const CREATE_GAS = 32_000;
/** EIP-8038. */
export const CREATE_ACCESS_GAS = 12_000;
export const ACCOUNT_WRITE_GAS = 9000;
export const STORAGE_WRITE_GAS = 10_000;
export const STORAGE_CLEAR_REFUND = 11_616;
/** State gas (EIP-8037): 1530 for each byte that the state grows by. */
export const NEW_ACCOUNT_STATE_GAS = 120 * 1530;
export const NEW_SLOT_STATE_GAS = 64 * 1530;
export const INIT_CODE_WORD_GAS = 2;
export const SELFDESTRUCT_GAS = 5000;
/** A call gets at most all but one 64th of the remaining gas (EIP-150). */
export const CALL_GAS_DIVISOR = 64;
