import { fundedAccounts } from "../../src/evm/accounts.ts";
import { type Measured, measure, Server, type Target } from "../json-rpc/measure.ts";
import type { BenchedRequest } from "../json-rpc/requests.ts";
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
  eth_getBalance: () => ["eth_getBalance", fundedAccounts()[0]!.address, "latest"],
  "eth_call, ERC-20 balanceOf": ({ token }) => ["eth_call", ...balanceCall(token)],
};

/** Prints requests per second of every server, and of a bare server that sends the first server's response. */
export async function benchCalls({ chains, beacon, rounds, seconds }: CallsBench): Promise<void> {
  const [fanal, ...others] = chains as [TokenChain, ...TokenChain[]];
  const contestants: Contestant[] = [fanal, { server: beacon, token: fanal.token }, ...others];
  const [bare, { child: load }] = await Promise.all([
    Server.start("bare-process"),
    Child.start("load-process", new URL("../json-rpc/", import.meta.url).href),
  ]);
  try {
    printHeader("requests/s", "bare `node:http`", ...contestants.map(({ server }) => server.name), "port/bare");
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
    }
  } finally {
    await Promise.all([bare.child.end(), load.end()]);
  }
}

const rate = ({ requestsPerSecond }: Measured) => requestsPerSecond;

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
