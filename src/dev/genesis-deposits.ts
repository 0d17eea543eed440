import { createHash } from "node:crypto";
import type { ChainConfig } from "@lodestar/config";
import { BLS_WITHDRAWAL_PREFIX, DOMAIN_DEPOSIT, MAX_EFFECTIVE_BALANCE } from "@lodestar/params";
import { computeDomain, computeSigningRoot, ZERO_HASH } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import type { InteropKeys } from "./interop-keys.ts";

/** The deposit each genesis validator would have made: a full stake whose withdrawals its own signing key controls. */
export function genesisDeposits(chainConfig: ChainConfig, keys: InteropKeys): phase0.DepositData[] {
  // Deposits are valid on every fork, hence signed without a genesis validators root (phase0/beacon-chain.md, Deposits).
  const domain = computeDomain(DOMAIN_DEPOSIT, chainConfig.GENESIS_FORK_VERSION, ZERO_HASH);
  return keys.indices.map((index) => {
    const pubkey = keys.publicKey(index)!;
    const message: phase0.DepositMessage = {
      pubkey,
      withdrawalCredentials: blsWithdrawalCredentials(pubkey),
      amount: MAX_EFFECTIVE_BALANCE,
    };
    const signingRoot = computeSigningRoot(ssz.phase0.DepositMessage, message, domain);
    return { ...message, signature: keys.secretKey(index)!.sign(signingRoot).toBytes() };
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
function blsWithdrawalCredentials(pubkey: Uint8Array): Uint8Array {
  const credentials = new Uint8Array(createHash("sha256").update(pubkey).digest());
  credentials[0] = BLS_WITHDRAWAL_PREFIX;
  return credentials;
}
