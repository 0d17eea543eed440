import { printHeader, printRow, printSetting } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { benchCalls } from "./calls.ts";
import { benchContractTests } from "./contract-tests.ts";
import { benchHeavyCalls } from "./heavy-calls.ts";
import { makeHistory, type TokenChain } from "./history.ts";
import { benchLogs } from "./logs.ts";
import { type EthServer, startAnvil, startEdr, startFanal } from "./servers.ts";

interface Options {
  rounds: number;
  seconds: number;
  blocks: number;
}

export async function benchEth(options: Options): Promise<void> {
  printSetting(`${options.rounds} rounds of ${options.seconds} s for each server, 64 connections, medians`);
  await withTempDirectory(async (directory) => {
    const { eth, beacon } = await startFanal(directory);
    const found = { Anvil: await startAnvil(), EDR: await startEdr() };
    const servers = [eth, ...Object.values(found)].filter((server) => server !== undefined);
    try {
      for (const [name, server] of Object.entries(found)) {
        if (server === undefined) console.log(`${name} has no binary for this platform and is left out.\n`);
      }
      await benchServers(servers, beacon, options);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
  await benchContractTests();
}

async function benchServers(
  servers: readonly EthServer[],
  beacon: EthServer,
  { rounds, seconds, blocks }: Options,
): Promise<void> {
  const chains: TokenChain[] = [];
  for (const server of servers) chains.push(await makeHistory(server, blocks));
  printHeader(`${blocks} blocks, every tenth with a transaction`, ...servers.map(({ name }) => name));
  printRow("mined one after the other", ...chains.map((chain) => `${chain.seconds.toFixed(1)} s`));
  console.log();
  await benchCalls({ chains, beacon, rounds, seconds });
  console.log();
  await benchHeavyCalls(chains);
  console.log();
  await benchLogs(chains, blocks);
  console.log();
}
