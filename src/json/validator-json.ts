import type { phase0, ValidatorIndex, ValidatorStatus } from "@lodestar/types";

const FAR_FUTURE = "18446744073709551615";

interface ListedValidator {
  index: ValidatorIndex;
  balance: number;
  status: ValidatorStatus;
  validator: phase0.Validator;
}

/**
 * One validator of a list as JSON, byte for byte what the standard's codec gives for it. The codec walks types for every
 * field; lists of a million validators are the one answer where that is felt.
 */
export function validatorJson({ index, balance, status, validator }: ListedValidator): string {
  return (
    `{"index":"${index}","balance":"${balance}","status":"${status}","validator":{"pubkey":"0x${hex(validator.pubkey)}",` +
    `"withdrawal_credentials":"0x${hex(validator.withdrawalCredentials)}",` +
    `"effective_balance":"${validator.effectiveBalance}","slashed":${validator.slashed},` +
    `"activation_eligibility_epoch":"${epoch(validator.activationEligibilityEpoch)}",` +
    `"activation_epoch":"${epoch(validator.activationEpoch)}","exit_epoch":"${epoch(validator.exitEpoch)}",` +
    `"withdrawable_epoch":"${epoch(validator.withdrawableEpoch)}"}}`
  );
}

export function balanceJson({ index, balance }: { index: ValidatorIndex; balance: number }): string {
  return `{"index":"${index}","balance":"${balance}"}`;
}

function hex({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("hex");
}

function epoch(value: number): string {
  return value === Number.POSITIVE_INFINITY ? FAR_FUTURE : String(value);
}
