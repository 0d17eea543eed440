import { BLS_WITHDRAWAL_PREFIX } from "@lodestar/params";
import {
  getBlsToExecutionChangeSignatureSet,
  isValidBlsToExecutionChange,
  type SingleSignatureSet,
} from "@lodestar/state-transition";
import { type capella, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import type { ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, reject } from "./outcome.ts";

/** The rules of the topic bls_to_execution_change (capella/p2p-interface.md). */
export async function validateBlsChange(
  { config, clock, bls, operations, states }: ValidationContext,
  signedChange: capella.SignedBLSToExecutionChange,
): Promise<void> {
  const { validatorIndex } = signedChange.message;
  const { CAPELLA_FORK_EPOCH } = config;
  if (clock.currentEpoch < CAPELLA_FORK_EPOCH) {
    const begins = Number.isFinite(CAPELLA_FORK_EPOCH)
      ? `begins at epoch ${CAPELLA_FORK_EPOCH}; the current epoch is ${clock.currentEpoch}`
      : "this chain does not schedule";
    throw ignore("wrong-fork", `Withdrawal credentials can be changed from Capella on, which ${begins}.`);
  }
  refuseSecondChange(operations, signedChange);

  const { head } = states;
  if (validatorIndex >= head.validators.length) {
    throw reject("unknown-validator", `There is no validator ${validatorIndex} whose credentials could be changed.`);
  }
  const validator = head.validators.getReadonly(validatorIndex);
  if (validator.withdrawalCredentials[0] !== BLS_WITHDRAWAL_PREFIX) {
    throw reject(
      "no-bls-credentials",
      `The withdrawal credentials of validator ${validatorIndex} do not name a BLS key, so they cannot be changed any more.`,
    );
  }
  if (!isValidBlsToExecutionChange(config, validator, signedChange, false).valid) {
    throw reject(
      "wrong-withdrawal-key",
      `The key of the change is not the one that the withdrawal credentials of validator ${validatorIndex} name.`,
    );
  }
  const signatureSet = signatureSetOf(config, signedChange);
  if (!signatureSet || !(await bls.verify([signatureSet]))) {
    throw reject(
      "bad-signature",
      `The change of the credentials of validator ${validatorIndex} is not signed with its withdrawal key.`,
    );
  }
}

/** The first change wins; to say that another one succeeds too would mislead whoever wants the other address. */
function refuseSecondChange(
  operations: ValidationContext["operations"],
  { message }: capella.SignedBLSToExecutionChange,
): void {
  const { validatorIndex } = message;
  if (!operations.hasBlsToExecutionChange(validatorIndex)) return;
  const held = operations
    .listBlsToExecutionChanges()
    .find((change) => change.message.validatorIndex === validatorIndex);
  if (!held || ssz.capella.BLSToExecutionChange.equals(held.message, message)) {
    throw alreadyKnown(`The same change of the credentials of validator ${validatorIndex} was seen before.`);
  }
  throw ignore(
    "conflicting-change",
    `A change of the credentials of validator ${validatorIndex} to ${toHex(held.message.toExecutionAddress)} is already pending.`,
  );
}

/** Null when the key is no point of the curve: credentials may have been made from any bytes. */
function signatureSetOf(
  config: ValidationContext["config"],
  signedChange: capella.SignedBLSToExecutionChange,
): SingleSignatureSet | null {
  try {
    return getBlsToExecutionChangeSignatureSet(config, signedChange);
  } catch {
    return null;
  }
}
