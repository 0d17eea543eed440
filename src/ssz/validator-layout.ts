/** SSZ size of a validator. */
export const VALIDATOR_BYTES = 121;
export const PUBKEY_BYTES = 48;
export const CREDENTIALS_BYTES = 32;

/** Byte offsets of a validator's fields. */
export const VALIDATOR_FIELDS = {
  pubkey: 0,
  withdrawalCredentials: 48,
  effectiveBalance: 80,
  slashed: 88,
  activationEligibilityEpoch: 89,
  activationEpoch: 97,
  exitEpoch: 105,
  withdrawableEpoch: 113,
} as const;
