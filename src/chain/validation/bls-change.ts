import { BLS_WITHDRAWAL_PREFIX, COMPOUNDING_WITHDRAWAL_PREFIX, ETH1_ADDRESS_WITHDRAWAL_PREFIX } from "@lodestar/params";
import {
  getBlsToExecutionChangeSignatureSet,
  isValidBlsToExecutionChange,
  type SingleSignatureSet,
} from "@lodestar/state-transition";
import type { capella, ValidatorIndex } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import type { ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, type Origin, reject } from "./outcome.ts";

/** Validates a credential change against the rules of the topic bls_to_execution_change (capella/p2p-interface.md). */
export async function validateBlsChange(
  { config, clock, bls, operations, states }: ValidationContext,
  signedChange: capella.SignedBLSToExecutionChange,
  origin: Origin,
): Promise<void> {
  const { validatorIndex } = signedChange.message;
  const { CAPELLA_FORK_EPOCH } = config;
  if (clock.currentEpoch < CAPELLA_FORK_EPOCH) {
    const start = Number.isFinite(CAPELLA_FORK_EPOCH)
      ? `starts at epoch ${CAPELLA_FORK_EPOCH}; the current epoch is ${clock.currentEpoch}`
      : "this chain does not schedule";
    throw ignore("wrong-fork", `Withdrawal credentials can be changed from Capella on, which ${start}.`);
  }
  if (origin === "gossip" && operations.hasBlsToExecutionChange(validatorIndex)) {
    throw alreadyKnown(`A credential change of validator ${validatorIndex} is already known.`);
  }

  const { head } = states;
  if (validatorIndex >= head.validators.length) {
    throw reject("unknown-validator", `Unknown validator ${validatorIndex}.`);
  }
  const validator = head.validators.getReadonly(validatorIndex);
  if (validator.withdrawalCredentials[0] !== BLS_WITHDRAWAL_PREFIX) {
    throw reject("no-bls-credentials", noBlsKey(validatorIndex, validator.withdrawalCredentials));
  }
  if (!isValidBlsToExecutionChange(config, validator, signedChange, false).valid) {
    throw reject(
      "wrong-withdrawal-key",
      `The key of the change does not match the withdrawal credentials of validator ${validatorIndex}.`,
    );
  }
  const signatureSet = signatureSetOf(config, signedChange);
  if (!signatureSet || !(await bls.verify([signatureSet]))) {
    throw reject(
      "bad-signature",
      `The credential change of validator ${validatorIndex} is not signed by its withdrawal key.`,
    );
  }
}

function noBlsKey(validatorIndex: ValidatorIndex, credentials: Uint8Array): string {
  const [prefix] = credentials;
  if (prefix !== ETH1_ADDRESS_WITHDRAWAL_PREFIX && prefix !== COMPOUNDING_WITHDRAWAL_PREFIX) {
    return `The withdrawal credentials of validator ${validatorIndex}, ${toHex(credentials)}, are not BLS credentials.`;
  }
  return (
    `The withdrawal credentials of validator ${validatorIndex} are already execution credentials with address ` +
    `${toHex(credentials.subarray(12))}. They can be changed from a BLS key only once.`
  );
}

/**
 * Returns null if the key is not a valid point, which is possible because credentials can be derived from arbitrary
 * bytes.
 */
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
