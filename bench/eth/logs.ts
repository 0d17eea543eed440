import { median } from "../support/statistics.ts";
import { printHeader, printRow } from "../support/table.ts";
import { takeTurns } from "../support/turns.ts";
import type { TokenChain } from "./history.ts";

const ROUNDS = 15;
const ABSENT = `0x${"99".repeat(20)}`;

const QUERIES: Readonly<Record<string, (chain: TokenChain) => object>> = {
  "all logs": () => ({}),
  "logs of the token": ({ token }) => ({ address: token }),
  "logs of an address without logs": () => ({ address: ABSENT }),
};

/**
 * Prints the time of `eth_getLogs` over the whole chain on each server, one call at a time. The first call fills the
 * index of a server. Every call has another range, so that no server repeats a response.
 */
export async function benchLogs(chains: readonly TokenChain[], blocks: number): Promise<void> {
  printHeader(`eth_getLogs over ${blocks} blocks`, "logs", ...chains.map(({ server }) => server.name));
  const first: number[] = [];
  for (const { server } of chains) {
    const began = performance.now();
    await server.call("eth_getLogs", { fromBlock: "0x0", toBlock: "latest" });
    first.push(performance.now() - began);
  }
  printRow("all logs, first call", "", ...first.map(inMs));
  for (const [title, query] of Object.entries(QUERIES)) {
    let found = 0;
    const measured = await takeTurns(
      ROUNDS,
      chains.map((chain) => {
        let calls = 0;
        return async () => {
          const filter = { ...query(chain), ...rangeOf(calls++, blocks) };
          const began = performance.now();
          const logs = await chain.server.call<unknown[]>("eth_getLogs", filter);
          const elapsed = performance.now() - began;
          found = logs.length;
          return elapsed;
        };
      }),
    );
    printRow(title, found, ...measured.map((each) => inMs(median(each))));
  }
}

/** The last blocks of the chain have no logs. */
const rangeOf = (call: number, blocks: number) => ({
  fromBlock: toHex(call % 2),
  toBlock: toHex(blocks - (call >> 1)),
});

const toHex = (number: number): string => `0x${number.toString(16)}`;
const inMs = (milliseconds: number): string => `${milliseconds.toFixed(1)} ms`;
