import { createHash } from "node:crypto";
import { PublicKey, type SecretKey, Signature, verify } from "@chainsafe/blst";
import type { ChainConfig } from "@lodestar/config";
import { DOMAIN_DEPOSIT, MAX_EFFECTIVE_BALANCE, MIN_DEPOSIT_AMOUNT } from "@lodestar/params";
import { computeDomain, computeSigningRoot, ZERO_HASH } from "@lodestar/state-transition";
import { type phase0, ssz, type ValidatorIndex } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { TimeSlice } from "../async/time-slice.ts";
import { LruMap } from "../collections/lru-map.ts";
import type { GenesisParameters, WithdrawalTarget } from "./genesis-parameters.ts";
import { InvalidChainError } from "./invalid-chain-error.ts";
import recordedDeposits from "./recorded-deposits.json" with { type: "json" };
import type { DevKeys } from "./validator-keys.ts";
import { expandRanges, valueAt } from "./validator-ranges.ts";

const GWEI_PER_ETHER = 1e9;
/** In Gwei. Sums of balances up to this value stay below 2^53. */
const LARGEST_DEPOSIT = 1_000_000 * GWEI_PER_ETHER;
const MAX_SIGNATURES = 1024;

/**
 * Signatures of genesis deposits by signing root, since the chains of a process mostly have the same. Those of the
 * default chain are recorded: signing them took a tenth of its start.
 */
const genesisSignatures = new LruMap<string, Uint8Array>(MAX_SIGNATURES);
for (const { signingRoot, signature } of recordedDeposits) genesisSignatures.set(signingRoot, fromHex(signature));

type DepositParameters = Pick<GenesisParameters, "withdrawals" | "balances">;

/**
 * Creates the deposits of the genesis validators. Defaults to 32 ETH each, with BLS withdrawal credentials derived from
 * the signing key.
 */
export function genesisDeposits(
  chainConfig: ChainConfig,
  keys: DevKeys,
  parameters: DepositParameters = {},
): phase0.DepositData[] {
  return [...signedGenesisDeposits(chainConfig, keys, parameters)];
}

/** Yields the same deposits, signing each when it is requested. */
export function* signedGenesisDeposits(
  chainConfig: ChainConfig,
  keys: DevKeys,
  parameters: DepositParameters,
): Generator<phase0.DepositData> {
  let index = 0;
  for (const message of genesisDepositMessages(keys, parameters)) {
    const root = depositSigningRoot(chainConfig, message);
    const key = toHex(root);
    const signature = genesisSignatures.get(key) ?? keys.secretKey(index)!.sign(root).toBytes();
    genesisSignatures.set(key, signature);
    yield { ...message, signature };
    index++;
  }
}

/** Yields the deposits of the genesis validators without signatures, for a chain whose deposit root omits them. */
export function* genesisDepositMessages(
  keys: DevKeys,
  { withdrawals = [], balances = [] }: DepositParameters,
): Generator<phase0.DepositMessage> {
  const targets = expandRanges(withdrawals, keys.count, "withdrawal credentials");
  const amounts = expandRanges(balances, keys.count, "balances");
  for (const index of keys.indices) {
    const pubkey = keys.publicKey(index)!;
    yield {
      pubkey,
      withdrawalCredentials: withdrawalCredentials(targets[index], pubkey),
      amount: depositAmount(amounts[index]),
    };
  }
}

/**
 * Collects generated deposits in time slices, since 100,000 of them take a minute. `onProgress` is called after each
 * deposit and may throw to cancel.
 */
export async function collectInSlices<T>(deposits: Iterable<T>, onProgress: (done: number) => void): Promise<T[]> {
  const collected: T[] = [];
  const slice = new TimeSlice();
  for (const deposit of deposits) {
    onProgress(collected.push(deposit));
    await slice.yieldIfDue();
  }
  return collected;
}

/** Creates the deposit of a genesis validator, or of a later validator that has the key for its index. */
export function depositOf(
  config: ChainConfig,
  secretKey: SecretKey,
  index: ValidatorIndex,
  { validators, withdrawals = [], balances = [] }: DepositParameters & { validators: number },
): phase0.DepositData {
  const pubkey = secretKey.toPublicKey().toBytes();
  if (index >= validators) {
    const credentials = newValidatorCredentials(withdrawals, pubkey);
    return signDeposit(config, secretKey, { pubkey, withdrawalCredentials: credentials, amount: depositAmount() });
  }
  const target = valueAt(withdrawals, index);
  return signDeposit(config, secretKey, {
    pubkey,
    withdrawalCredentials: withdrawalCredentials(target, pubkey),
    amount: depositAmount(valueAt(balances, index)),
  });
}

/** Computes the eth1 data for a deposit contract that holds these deposits. */
export function eth1DataAfter(deposits: readonly phase0.DepositData[], blockHash: Uint8Array): phase0.Eth1Data {
  const roots = deposits.map((deposit) => ssz.phase0.DepositData.hashTreeRoot(deposit));
  return {
    depositRoot: ssz.phase0.DepositDataRootList.hashTreeRoot(roots),
    depositCount: BigInt(deposits.length),
    blockHash,
  };
}

function depositAmount(gwei = MAX_EFFECTIVE_BALANCE): number {
  if (Number.isSafeInteger(gwei) && gwei >= MIN_DEPOSIT_AMOUNT && gwei <= LARGEST_DEPOSIT) return gwei;
  throw new InvalidChainError(
    `Invalid balance of ${gwei / GWEI_PER_ETHER} ETH. Validators start with ` +
      `${MIN_DEPOSIT_AMOUNT / GWEI_PER_ETHER} to ${LARGEST_DEPOSIT / GWEI_PER_ETHER} ETH, in whole Gwei.`,
  );
}

/**
 * Returns the credentials of a validator that joins after genesis: the default for validators outside of all ranges.
 */
export function newValidatorCredentials(
  withdrawals: GenesisParameters["withdrawals"] = [],
  pubkey: Uint8Array,
): Uint8Array {
  return withdrawalCredentials(withdrawals.find(({ range }) => range === undefined)?.value, pubkey);
}

/** Returns 0x00 credentials for the key itself. */
export function blsWithdrawalCredentials(pubkey: Uint8Array): Uint8Array {
  return withdrawalCredentials({ prefix: "0x00" }, pubkey);
}

/**
 * Returns withdrawal credentials (phase0/validator.md, Withdrawal credentials). The default address is derived from the
 * hash of the public key.
 */
function withdrawalCredentials(
  { prefix, address }: WithdrawalTarget = { prefix: "0x00" },
  pubkey: Uint8Array,
): Uint8Array {
  const credentials = sha256(pubkey);
  credentials[0] = Number(prefix);
  if (prefix === "0x00") return credentials;
  credentials.fill(0, 1, 12);
  if (address !== undefined) credentials.set(fromHex(address), 12);
  return credentials;
}

/** Returns an execution address that is derived from the hash of a public key. */
export const derivedAddress = (pubkey: Uint8Array): Uint8Array => sha256(pubkey).subarray(12);

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());

export function signDeposit(
  config: ChainConfig,
  secretKey: SecretKey,
  message: phase0.DepositMessage,
): phase0.DepositData {
  return { ...message, signature: secretKey.sign(depositSigningRoot(config, message)).toBytes() };
}

/** phase0/beacon-chain.md, is_valid_deposit_signature. */
export function isDepositSignatureValid(config: ChainConfig, deposit: phase0.DepositData): boolean {
  try {
    const publicKey = PublicKey.fromBytes(deposit.pubkey, true);
    const signature = Signature.fromBytes(deposit.signature, true);
    return verify(depositSigningRoot(config, deposit), publicKey, signature);
  } catch {
    return false;
  }
}

/** Omits the genesis validators root, since deposits are valid across forks (phase0/beacon-chain.md, Deposits). */
export function depositSigningRoot({ GENESIS_FORK_VERSION }: ChainConfig, message: phase0.DepositMessage): Uint8Array {
  const domain = computeDomain(DOMAIN_DEPOSIT, GENESIS_FORK_VERSION, ZERO_HASH);
  return computeSigningRoot(ssz.phase0.DepositMessage, message, domain);
}
