import { toHex } from "@lodestar/utils";
import type { DevChain } from "../../dev/dev-chain.ts";
import { forkAtGenesis, type ScheduledFork } from "../../dev/forks.ts";
import type { KeySource } from "../../dev/genesis-parameters.ts";
import type { LogFields, Logger } from "../../log/logger.ts";
import { VERSION } from "../../runtime/version.ts";
import type { DevOptions, SharedOptions } from "../flags/options.ts";

/** The first line of a node's log: what it is about to run, and where. */
export function announceStart(chain: LogFields, options: SharedOptions, logger: Logger): void {
  const { dataDir, rpc, rpcAddress, rpcPort, rest, restAddress, restPort, networking } = options;
  logger.notice(`Fanal ${VERSION} starts`, {
    ...chain,
    dataDir,
    rpc: rpc ? addressText(rpcAddress, rpcPort) : "off",
    rest: rest ? addressText(restAddress, restPort) : "off",
    p2p: networking ? addressText(networking.address, networking.port) : "off",
  });
}

const SHOWN_KEYS = 4;

/** Shows the first keys, as something to sign with. Those of a mnemonic are perhaps not for everybody who reads the log. */
export function announceKeys({ keys, chain }: DevChain, source: KeySource | undefined, logger: Logger): void {
  const { validators } = chain.headState;
  const areWellKnown = source?.kind !== "mnemonic";
  logger.notice(
    areWellKnown
      ? "These are the keys of the first validators; everybody knows them, so they are worthless on any other chain"
      : "These are the public keys of the first validators, by the mnemonic; dev_keys has the secret ones",
  );
  for (const index of keys.indices.slice(0, SHOWN_KEYS)) {
    logger.notice(`Validator ${index}`, {
      publicKey: toHex(keys.publicKey(index)!),
      ...(areWellKnown && { secretKey: keys.secretKey(index)!.toHex() }),
      withdrawalCredentials: toHex(validators.getReadonly(index).withdrawalCredentials),
    });
  }
}

/** upgrade_to_electra of the specification reckons with such validators, but nothing before it does. */
export function announceEarlyCompounding({ forks, withdrawals = [] }: DevOptions, logger: Logger): void {
  const isEarly = !forks.some(({ fork, epoch }) => fork === "electra" && epoch === 0);
  if (!isEarly || !withdrawals.some(({ value }) => value.prefix === "0x02")) return;
  logger.notice(
    "Withdrawal credentials that begin with 0x02 mean nothing before electra: until then nothing is withdrawn by them, and of " +
      "their validators' balances no more than 32 ETH count",
  );
}

/** Of the forks that are there from the beginning, only the last is worth a word. */
export function forkTexts(schedule: readonly ScheduledFork[]): string[] {
  const later = schedule.filter(({ epoch }) => epoch > 0);
  return [forkAtGenesis(schedule), ...later.map(({ fork, epoch }) => `${fork}@${epoch}`)];
}

export const addressText = (address: string, port: number): string =>
  `${address.includes(":") ? `[${address}]` : address}:${port === 0 ? "any" : port}`;
