import type { ScheduledFork } from "../../dev/forks.ts";
import type { LogFields, Logger } from "../../log/logger.ts";
import { VERSION } from "../../version.ts";
import type { SharedOptions } from "../flags/options.ts";

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

/** Of the forks that are there from the beginning, only the last is worth a word. */
export function forkTexts(schedule: readonly ScheduledFork[]): string[] {
  const genesisFork = schedule.findLast(({ epoch }) => epoch === 0)?.fork ?? "phase0";
  const later = schedule.filter(({ epoch }) => epoch > 0);
  return [genesisFork, ...later.map(({ fork, epoch }) => `${fork}@${epoch}`)];
}

const addressText = (address: string, port: number): string =>
  `${address.includes(":") ? `[${address}]` : address}:${port === 0 ? "any" : port}`;
