import type { SecretKey } from "@chainsafe/blst";
import type { ChainConfig } from "@lodestar/config";
import { DOMAIN_DEPOSIT } from "@lodestar/params";
import { computeDomain, computeSigningRoot, ZERO_HASH } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";

/** Deposits are valid on every fork, hence signed without a genesis validators root (phase0/beacon-chain.md, Deposits). */
export function signDeposit(
  { GENESIS_FORK_VERSION }: ChainConfig,
  secretKey: SecretKey,
  message: phase0.DepositMessage,
): phase0.DepositData {
  const domain = computeDomain(DOMAIN_DEPOSIT, GENESIS_FORK_VERSION, ZERO_HASH);
  const signingRoot = computeSigningRoot(ssz.phase0.DepositMessage, message, domain);
  return { ...message, signature: secretKey.sign(signingRoot).toBytes() };
}
