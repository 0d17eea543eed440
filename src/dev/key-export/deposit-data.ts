import type { ChainConfig } from "@lodestar/config";
import { type phase0, ssz } from "@lodestar/types";

/** A staking-deposit-cli version that uses this format. Deposit tools reject older versions. */
const DEPOSIT_CLI_VERSION = "2.7.0";

/** Entry in a deposit data file, in the format of staking-deposit-cli. Hex strings have no 0x prefix. */
export interface DepositDataEntry {
  readonly pubkey: string;
  readonly withdrawal_credentials: string;
  /** In Gwei. */
  readonly amount: number;
  readonly signature: string;
  readonly deposit_message_root: string;
  readonly deposit_data_root: string;
  readonly fork_version: string;
  readonly network_name: string;
  readonly deposit_cli_version: string;
}

export function depositDataEntry(
  { GENESIS_FORK_VERSION, CONFIG_NAME }: ChainConfig,
  deposit: phase0.DepositData,
): DepositDataEntry {
  return {
    pubkey: hex(deposit.pubkey),
    withdrawal_credentials: hex(deposit.withdrawalCredentials),
    amount: deposit.amount,
    signature: hex(deposit.signature),
    deposit_message_root: hex(ssz.phase0.DepositMessage.hashTreeRoot(deposit)),
    deposit_data_root: hex(ssz.phase0.DepositData.hashTreeRoot(deposit)),
    fork_version: hex(GENESIS_FORK_VERSION),
    network_name: CONFIG_NAME,
    deposit_cli_version: DEPOSIT_CLI_VERSION,
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
