import { createHash } from "node:crypto";
import type { ChainConfig } from "@lodestar/config";
import { MAX_EFFECTIVE_BALANCE, MIN_DEPOSIT_AMOUNT } from "@lodestar/params";
import { type phase0, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { TimeSlice } from "../async/time-slice.ts";
import { forEachValidator } from "./for-validators.ts";
import type { GenesisParameters, WithdrawalTarget } from "./genesis-parameters.ts";
import { ImpossibleChainError } from "./impossible-chain.ts";
import { signDeposit } from "./signed-deposit.ts";
import type { DevKeys } from "./validator-keys.ts";

const GWEI_PER_ETHER = 1e9;
/** In Gwei; sums of such balances are still exact numbers. */
const LARGEST_DEPOSIT = 1_000_000 * GWEI_PER_ETHER;

type DepositParameters = Pick<GenesisParameters, "withdrawals" | "balances">;

/**
 * The deposit each genesis validator would have made: unless something else is wanted, a full stake whose withdrawals its own
 * signing key controls.
 */
export function genesisDeposits(
  chainConfig: ChainConfig,
  keys: DevKeys,
  parameters: DepositParameters = {},
): phase0.DepositData[] {
  return [...signDeposits(chainConfig, keys, parameters)];
}

/**
 * The same in time slices: a hundred thousand take a minute. `onProgress` is called after each deposit and may throw to stop.
 */
export async function genesisDepositsInSlices(
  chainConfig: ChainConfig,
  keys: DevKeys,
  parameters: DepositParameters,
  onProgress: (done: number) => void,
): Promise<phase0.DepositData[]> {
  const deposits: phase0.DepositData[] = [];
  const slice = new TimeSlice();
  for (const deposit of signDeposits(chainConfig, keys, parameters)) {
    onProgress(deposits.push(deposit));
    await slice.yieldIfDue();
  }
  return deposits;
}

function* signDeposits(
  chainConfig: ChainConfig,
  keys: DevKeys,
  { withdrawals = [], balances = [] }: DepositParameters,
): Generator<phase0.DepositData> {
  const targets = forEachValidator(withdrawals, keys.count, "withdrawal credentials");
  const amounts = forEachValidator(balances, keys.count, "balances");
  for (const index of keys.indices) {
    const pubkey = keys.publicKey(index)!;
    yield signDeposit(chainConfig, keys.secretKey(index)!, {
      pubkey,
      withdrawalCredentials: withdrawalCredentials(targets[index], pubkey),
      amount: depositAmount(amounts[index]),
    });
  }
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

function depositAmount(gwei = MAX_EFFECTIVE_BALANCE): number {
  if (Number.isSafeInteger(gwei) && gwei >= MIN_DEPOSIT_AMOUNT && gwei <= LARGEST_DEPOSIT) return gwei;
  throw new ImpossibleChainError(
    `A validator cannot begin with ${gwei / GWEI_PER_ETHER} ETH: it can with ${MIN_DEPOSIT_AMOUNT / GWEI_PER_ETHER}, the least that ` +
      `can be deposited, to ${LARGEST_DEPOSIT / GWEI_PER_ETHER}, in whole Gwei.`,
  );
}

/** Those that the key itself controls. */
export function blsWithdrawalCredentials(pubkey: Uint8Array): Uint8Array {
  return withdrawalCredentials({ prefix: "0x00" }, pubkey);
}

/**
 * The first byte says what the others are (phase0/validator.md, Withdrawal credentials): of the hash of the key all but its
 * first byte, or an address. By default that is the end of the same hash.
 */
function withdrawalCredentials(
  { prefix, address }: WithdrawalTarget = { prefix: "0x00" },
  pubkey: Uint8Array,
): Uint8Array {
  const credentials = new Uint8Array(createHash("sha256").update(pubkey).digest());
  credentials[0] = Number(prefix);
  if (prefix === "0x00") return credentials;
  credentials.fill(0, 1, 12);
  if (address !== undefined) credentials.set(fromHex(address), 12);
  return credentials;
}
