import type { SecretKey } from "@chainsafe/blst";
import type { ChainConfig } from "@lodestar/config";
import { BUILDER_WITHDRAWAL_PREFIX, DOMAIN_BUILDER_DEPOSIT } from "@lodestar/params";
import { computeDomain, computeSigningRoot, ZERO_HASH } from "@lodestar/state-transition";
import { type gloas, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { builderKeys } from "../builder-keys.ts";
import { derivedAddress } from "../genesis-deposits.ts";

/** Secret keys of a dev chain's builders, by public key. */
export class BuilderKeychain {
  readonly #keys: ReadonlyMap<string, SecretKey>;

  constructor(count: number) {
    const keys = builderKeys(count);
    this.#keys = new Map(keys.indices.map((index) => [toHex(keys.publicKey(index)!), keys.secretKey(index)!]));
  }

  /** Returns undefined for a builder that is not ours. */
  secretKey(pubkey: Uint8Array): SecretKey | undefined {
    return this.#keys.get(toHex(pubkey));
  }

  get all(): SecretKey[] {
    return [...this.#keys.values()];
  }
}

/** Returns the withdrawal credentials of a builder. The address is derived from the public key by default. */
export function builderCredentials(pubkey: Uint8Array, executionAddress = derivedAddress(pubkey)): Uint8Array {
  const withdrawalCredentials = new Uint8Array(32);
  withdrawalCredentials[0] = BUILDER_WITHDRAWAL_PREFIX;
  withdrawalCredentials.set(executionAddress, 12);
  return withdrawalCredentials;
}

/** Signs a deposit, which registers a builder or tops it up (gloas/builder.md). `amount` is in Gwei. */
export function builderDeposit(
  { GENESIS_FORK_VERSION }: Pick<ChainConfig, "GENESIS_FORK_VERSION">,
  secretKey: SecretKey,
  amount: number,
  executionAddress?: Uint8Array,
): gloas.BuilderDepositRequest {
  const pubkey = secretKey.toPublicKey().toBytes();
  const message = { pubkey, withdrawalCredentials: builderCredentials(pubkey, executionAddress), amount };
  const domain = computeDomain(DOMAIN_BUILDER_DEPOSIT, GENESIS_FORK_VERSION, ZERO_HASH);
  const signingRoot = computeSigningRoot(ssz.phase0.DepositMessage, message, domain);
  return { ...message, signature: secretKey.sign(signingRoot).toBytes() };
}
