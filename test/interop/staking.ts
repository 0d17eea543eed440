import type { Type } from "@chainsafe/ssz";
import {
  DOMAIN_BLS_TO_EXECUTION_CHANGE,
  DOMAIN_DEPOSIT,
  ETH1_ADDRESS_WITHDRAWAL_PREFIX,
  MAX_EFFECTIVE_BALANCE,
} from "@lodestar/params";
import { computeDomain, computeSigningRoot, interopSecretKey, ZERO_HASH } from "@lodestar/state-transition";
import { type phase0, ssz, type ValidatorIndex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";

/** Result of get_v1_beacon_genesis. */
export interface GenesisFacts {
  genesis_validators_root: string;
  genesis_fork_version: string;
}

export const publicKeyOf = (index: ValidatorIndex): Uint8Array => interopSecretKey(index).toPublicKey().toBytes();

/** Deposit data of a validator with that interop key and an execution withdrawal address. */
export function depositOf(index: ValidatorIndex, address: string, genesis: GenesisFacts): phase0.DepositData {
  const withdrawalCredentials = new Uint8Array(32);
  withdrawalCredentials[0] = ETH1_ADDRESS_WITHDRAWAL_PREFIX;
  withdrawalCredentials.set(fromHex(address), 12);
  const message = { pubkey: publicKeyOf(index), withdrawalCredentials, amount: MAX_EFFECTIVE_BALANCE };
  const domain = computeDomain(DOMAIN_DEPOSIT, fromHex(genesis.genesis_fork_version), ZERO_HASH);
  return { ...message, signature: signed(index, ssz.phase0.DepositMessage, message, domain) };
}

/** Returns the JSON of a BLS to execution change of a genesis validator. */
export function credentialsChange(index: ValidatorIndex, address: string, genesis: GenesisFacts): unknown {
  const message = {
    validatorIndex: index,
    fromBlsPubkey: publicKeyOf(index),
    toExecutionAddress: fromHex(address),
  };
  const domain = computeDomain(
    DOMAIN_BLS_TO_EXECUTION_CHANGE,
    fromHex(genesis.genesis_fork_version),
    fromHex(genesis.genesis_validators_root),
  );
  const signature = signed(index, ssz.capella.BLSToExecutionChange, message, domain);
  return ssz.capella.SignedBLSToExecutionChange.toJson({ message, signature });
}

function signed<T>(index: ValidatorIndex, type: Type<T>, message: T, domain: Uint8Array): Uint8Array {
  return interopSecretKey(index)
    .sign(computeSigningRoot(type, message, domain))
    .toBytes();
}
