import { median } from "../support/statistics.ts";
import { printHeader, printRow } from "../support/table.ts";
import { takeTurns } from "../support/turns.ts";
import type { TokenChain } from "./history.ts";

const ROUNDS = 15;
const WHOLE_CHAIN = { fromBlock: "0x0", toBlock: "latest" };
const ABSENT = `0x${"99".repeat(20)}`;

type Query = (chain: TokenChain) => object;

const QUERIES: Readonly<Record<string, Query>> = {
  "all logs": () => WHOLE_CHAIN,
  "logs of the token": ({ token }) => ({ ...WHOLE_CHAIN, address: token }),
  "logs of an address without logs": () => ({ ...WHOLE_CHAIN, address: ABSENT }),
};

/**
 * Prints the time of `eth_getLogs` over the whole chain on each server, one call at a time. The first call fills the
 * caches of a server.
 */
export async function benchLogs(chains: readonly TokenChain[], blocks: number): Promise<void> {
  printHeader(`eth_getLogs over ${blocks} blocks`, "logs", ...chains.map(({ server }) => server.name));
  const first: number[] = [];
  for (const { server } of chains) {
    const began = performance.now();
    await server.call("eth_getLogs", WHOLE_CHAIN);
    first.push(performance.now() - began);
  }
  printRow("all logs, first call", "", ...first.map(inMs));
  for (const [title, query] of Object.entries(QUERIES)) {
    let found = 0;
    const measured = await takeTurns(
      ROUNDS,
      chains.map((chain) => async () => {
        const began = performance.now();
        const logs = await chain.server.call<unknown[]>("eth_getLogs", query(chain));
        const elapsed = performance.now() - began;
        found = logs.length;
        return elapsed;
      }),
    );
    printRow(title, found, ...measured.map((each) => inMs(median(each))));
  }
}

const inMs = (milliseconds: number): string => `${milliseconds.toFixed(1)} ms`;
