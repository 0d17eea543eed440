import { BLS_WITHDRAWAL_PREFIX, FAR_FUTURE_EPOCH } from "@lodestar/params";
import type { Epoch, phase0 } from "@lodestar/types";

/** Unlike one who is not active *yet* (beacon chain, "is_slashable_validator"), this validator is safe for good. */
export function canNeverBeSlashed({ slashed, withdrawableEpoch }: phase0.Validator, epoch: Epoch): boolean {
  return slashed || epoch >= withdrawableEpoch;
}

export function hasInitiatedExit({ exitEpoch }: phase0.Validator): boolean {
  return exitEpoch !== FAR_FUTURE_EPOCH;
}

export function hasBlsCredentials({ withdrawalCredentials }: phase0.Validator): boolean {
  return withdrawalCredentials[0] === BLS_WITHDRAWAL_PREFIX;
}
