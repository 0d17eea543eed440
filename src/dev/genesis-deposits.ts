import { createHash } from "node:crypto";
import type { ChainConfig } from "@lodestar/config";
import { BLS_WITHDRAWAL_PREFIX, MAX_EFFECTIVE_BALANCE } from "@lodestar/params";
import { type phase0, ssz } from "@lodestar/types";
import type { InteropKeys } from "./interop-keys.ts";
import { signDeposit } from "./signed-deposit.ts";

/** The deposit each genesis validator would have made: a full stake whose withdrawals its own signing key controls. */
export function genesisDeposits(chainConfig: ChainConfig, keys: InteropKeys): phase0.DepositData[] {
  return keys.indices.map((index) => {
    const pubkey = keys.publicKey(index)!;
    return signDeposit(chainConfig, keys.secretKey(index)!, {
      pubkey,
      withdrawalCredentials: blsWithdrawalCredentials(pubkey),
      amount: MAX_EFFECTIVE_BALANCE,
    });
  });
}

/** What the deposit contract would report after these deposits. */
export function eth1DataAfter(deposits: readonly phase0.DepositData[], blockHash: Uint8Array): phase0.Eth1Data {
  const roots = deposits.map((deposit) => ssz.phase0.DepositData.hashTreeRoot(deposit));
  return {
    depositRoot: ssz.phase0.DepositDataRootList.hashTreeRoot(roots),
    depositCount: BigInt(deposits.length),
    blockHash,
  };
}

/** phase0/validator.md, BLS_WITHDRAWAL_PREFIX: the hash of the key, its first byte replaced. */
export function blsWithdrawalCredentials(pubkey: Uint8Array): Uint8Array {
  const credentials = new Uint8Array(createHash("sha256").update(pubkey).digest());
  credentials[0] = BLS_WITHDRAWAL_PREFIX;
  return credentials;
}
