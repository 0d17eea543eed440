import { fundedAccounts } from "../../src/evm/accounts.ts";
import { type Measured, measure, Server, type Target } from "../json-rpc/measure.ts";
import { type BenchedRequest, VARIED } from "../json-rpc/requests.ts";
import { Child } from "../support/child.ts";
import { median } from "../support/statistics.ts";
import { percent, printHeader, printRow } from "../support/table.ts";
import { takeTurns } from "../support/turns.ts";
import { balanceCall, type TokenChain } from "./history.ts";
import type { EthServer } from "./servers.ts";

interface Contestant {
  server: EthServer;
  token: string;
}

interface CallsBench {
  chains: readonly TokenChain[];
  /** Beacon port of the same Fanal process. */
  beacon: EthServer;
  rounds: number;
  seconds: number;
}

type Call = (contestant: Contestant) => [method: string, ...params: unknown[]];

const CALLS: Readonly<Record<string, Call>> = {
  eth_chainId: () => ["eth_chainId"],
  eth_blockNumber: () => ["eth_blockNumber"],
  // Before other reads, since the first call connects the servers to the thread for reads.
  "ERC-20 `balanceOf`, repeated": ({ token }) => ["eth_call", ...balanceCall(token)],
  "ERC-20 `balanceOf`, never the same": ({ token }) => ["eth_call", ...balanceCall(token, VARIED)],
  "eth_getBalance, repeated": () => ["eth_getBalance", fundedAccounts()[0]!.address, "latest"],
  "eth_getBalance, never the same": () => ["eth_getBalance", `0x${VARIED.padStart(40, "77")}`, "latest"],
};

/**
 * Prints requests per second of every server, and of a bare server that sends the first server's response; then the CPU
 * time of the servers per request, which other work on the machine affects less.
 */
export async function benchCalls({ chains, beacon, rounds, seconds }: CallsBench): Promise<void> {
  const [fanal, ...others] = chains as [TokenChain, ...TokenChain[]];
  const contestants: Contestant[] = [fanal, { server: beacon, token: fanal.token }, ...others];
  const [bare, { child: load }] = await Promise.all([
    Server.start("bare-process"),
    Child.start("load-process", new URL("../json-rpc/", import.meta.url).href),
  ]);
  try {
    const names = ["bare `node:http`", ...contestants.map(({ server }) => server.name)];
    const cpuRows: string[][] = [];
    printHeader("requests/s", ...names, "port/bare");
    for (const [title, call] of Object.entries(CALLS)) {
      const requests = await Promise.all(contestants.map((contestant) => requestTo(contestant, title, call)));
      await bare.child.ask({ answer: requests[0]!.response });
      const turns: [Target, BenchedRequest][] = [
        [bare, requests[0]!.request],
        ...contestants.map(({ server }, index): [Target, BenchedRequest] => [server, requests[index]!.request]),
      ];
      const measured = await takeTurns(
        rounds,
        turns.map(
          ([target, request]) =>
            () =>
              measure(load, target, request, seconds),
        ),
      );
      const rates = measured.map((each) => median(each.map(rate)).toFixed(0));
      const [ofBare, ofPort] = measured as [Measured[], Measured[]];
      const share = median(ofPort.map((each, round) => rate(each) / rate(ofBare[round]!)));
      printRow(title, ...rates, percent(share));
      const times = measured.map((each) => median(each.map(cpu)));
      cpuRows.push([title, ...times.map((time) => time.toFixed(0)), percent(times[0]! / times[1]!)]);
    }
    console.log();
    printHeader("CPU time per request, µs", ...names, "bare/port");
    for (const row of cpuRows) printRow(...row);
  } finally {
    await Promise.all([bare.child.end(), load.end()]);
  }
}

const rate = ({ requestsPerSecond }: Measured) => requestsPerSecond;
const cpu = ({ microsecondsPerRequest }: Measured) => microsecondsPerRequest;

async function requestTo(contestant: Contestant, title: string, call: Call) {
  const [method, ...params] = call(contestant);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const request: BenchedRequest = { title, body, calls: 1 };
  const url = `http://127.0.0.1:${contestant.server.portOf(request)}`;
  const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const text = await response.text();
  if (text.includes('"error":')) throw new Error(`${contestant.server.name} answered ${text}.`);
  return { request: { ...request, responseBytes: Buffer.byteLength(text) }, response: text };
}
