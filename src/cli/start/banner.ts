import { toHex } from "@lodestar/utils";
import type { DevChain } from "../../dev/dev-chain.ts";
import { forkAtGenesis, type ScheduledFork } from "../../dev/forks.ts";
import type { KeySource } from "../../dev/genesis-parameters.ts";
import type { DevGenesisSettings } from "../../dev/settings.ts";
import { fundedAccounts } from "../../evm/accounts.ts";
import type { LogFields, Logger } from "../../log/logger.ts";
import type { NodeSettings } from "../../node/settings.ts";
import { VERSION } from "../../runtime/version.ts";
import type { LogSettings } from "../flags/log-flags.ts";
import type { ServerSettings } from "../flags/server/server-settings.ts";

/** Logs the node's configuration as the first line. */
export function announceStart(
  chain: LogFields,
  { dataDir, networking, servers }: Pick<NodeSettings, "dataDir" | "networking"> & { servers: ServerSettings },
  logger: Logger,
): void {
  logger.notice("Starting Fanal", {
    version: VERSION,
    ...chain,
    dataDir,
    ...serverAddresses(servers),
    p2p: networking ? addressText(networking.address, networking.port) : "off",
  });
}

/** Number of validators whose keys are printed at startup. */
export const SHOWN_KEYS = 4;

/** Logs the first validators' keys. Secret keys derived from a mnemonic are not logged. */
export function announceKeys({ keys, chain }: DevChain, source: KeySource | undefined, logger: Logger): void {
  const { validators } = chain.headState;
  const areWellKnown = source?.kind !== "mnemonic";
  logger.notice(
    areWellKnown
      ? "Public interop keys of the first validators, never use them on another chain"
      : "Public keys of the first validators of the mnemonic; dev_keys returns the secret keys",
  );
  for (const index of keys.indices.slice(0, SHOWN_KEYS)) {
    logger.notice("Validator key", {
      index,
      publicKey: toHex(keys.publicKey(index)!),
      ...(areWellKnown && { secretKey: keys.secretKey(index)!.toHex() }),
      withdrawalCredentials: toHex(validators.getReadonly(index).withdrawalCredentials),
    });
  }
}

interface AccountSettings {
  evm: DevGenesisSettings["evm"];
  log: Pick<LogSettings, "format">;
}

/** Logs the funded accounts of a chain with an EVM, except in JSON format. */
export function announceAccounts({ evm, log }: AccountSettings, logger: Logger): void {
  if (evm === undefined || log.format === "json") return;
  logger.notice(
    `Chain id ${evm.chainId}. Accounts with 10,000 ETH, whose private keys are public, never use them elsewhere:`,
  );
  for (const [index, { address, privateKey }] of fundedAccounts().entries()) {
    logger.notice(`(${index}) ${address} ${privateKey}`);
  }
}

/** Logs that 0x02 credentials have no effect before electra, where upgrade_to_electra handles such validators. */
export function announceEarlyCompounding(
  { forks, withdrawals = [] }: Pick<DevGenesisSettings, "forks" | "withdrawals">,
  logger: Logger,
): void {
  const isEarly = !forks.some(({ fork, epoch }) => fork === "electra" && epoch === 0);
  if (!isEarly || !withdrawals.some(({ value }) => value.prefix === "0x02")) return;
  logger.notice(
    "0x02 withdrawal credentials have no effect before electra: no withdrawals, and at most 32 ETH effective balance",
  );
}

/** Formats the genesis fork and the later forks with their epochs. */
export function forkTexts(schedule: readonly ScheduledFork[]): string[] {
  const later = schedule.filter(({ epoch }) => epoch > 0);
  return [forkAtGenesis(schedule), ...later.map(({ fork, epoch }) => `${fork}@${epoch}`)];
}

/** Returns log fields with the addresses of the API servers. */
export function serverAddresses({ jsonRpc, rest }: ServerSettings): { rpc: string; rest: string } {
  return {
    rpc: jsonRpc ? addressText(jsonRpc.host, jsonRpc.port) : "off",
    rest: rest ? addressText(rest.host, rest.port) : "off",
  };
}

const addressText = (address: string, port: number): string =>
  `${address.includes(":") ? `[${address}]` : address}:${port === 0 ? "any" : port}`;
