import { parse } from "node:path";
import { pathToFileURL } from "node:url";
import { Child } from "../support/child.ts";
import { describeMachine } from "../support/machine.ts";
import { type Tally, walk } from "./walk.ts";

interface ChainReport {
  url: string;
  slotsPerEpoch: number;
}

interface WalkedServer extends ChainReport {
  name: string;
  child: Child;
}

interface Walk {
  tally: Tally;
  /** CPU time of the server. */
  cpuSeconds: number;
}

/** Prints requests per second, by method and in total. */
export async function benchIndexer(epochs: number, otherPath: string | undefined): Promise<void> {
  const servers = [await startServer("this checkout", new URL("chain-process.ts", import.meta.url), epochs)];
  if (otherPath !== undefined) {
    servers.unshift(await startServer("other checkout", pathToFileURL(otherPath), epochs));
  }
  try {
    console.log(`${describeMachine()}; 64 validators, electra, ${epochs} epochs; requests per second\n`);
    for (const direction of ["up", "down"] as const) {
      const walks: Walk[] = [];
      for (const server of servers) walks.push(await measure(server, epochs, direction));
      printTable(direction, servers, walks);
    }
  } finally {
    await Promise.all(servers.map(({ child }) => child.end()));
  }
}

async function startServer(name: string, { href }: URL, epochs: number): Promise<WalkedServer> {
  const { child } = await Child.start(parse(href).name, href);
  const report = await child.ask<ChainReport>({ epochs });
  return { name, child, ...report };
}

async function measure(server: WalkedServer, epochs: number, direction: "up" | "down"): Promise<Walk> {
  const { url, slotsPerEpoch } = server;
  const before = await cpuSecondsOf(server);
  const tally = await walk({ url, slotsPerEpoch, slots: epochs * slotsPerEpoch }, direction);
  return { tally, cpuSeconds: (await cpuSecondsOf(server)) - before };
}

async function cpuSecondsOf({ child }: WalkedServer): Promise<number> {
  return (await child.ask<{ cpuMicroseconds: number }>({ cpu: true })).cpuMicroseconds / 1e6;
}

function printTable(direction: string, servers: readonly WalkedServer[], walks: readonly Walk[]): void {
  const tallies = walks.map(({ tally }) => tally);
  console.log(`| walking ${direction} | requests | ${servers.map(({ name }) => name).join(" | ")} |`);
  console.log(`| --- | ---: | ${servers.map(() => "---:").join(" | ")} |`);
  const wholes = tallies.map(together);
  for (const [method, { requests }] of tallies[0]!) {
    console.log(
      row(
        `\`${method}\``,
        requests,
        tallies.map((tally) => tally.get(method)!),
      ),
    );
  }
  console.log(row("all", wholes[0]!.requests, wholes));
  const cpu = walks.map(({ cpuSeconds }) => cpuSeconds.toFixed(1));
  console.log(`| CPU time of the server, s | | ${cpu.join(" | ")} |\n`);
}

function together(tally: Tally): { requests: number; milliseconds: number } {
  const sum = { requests: 0, milliseconds: 0 };
  for (const { requests, milliseconds } of tally.values()) {
    sum.requests += requests;
    sum.milliseconds += milliseconds;
  }
  return sum;
}

function row(name: string, count: number, tallies: readonly { requests: number; milliseconds: number }[]): string {
  const rates = tallies.map(({ requests, milliseconds }) => ((requests * 1000) / milliseconds).toFixed(0));
  return `| ${[name, count, ...rates].join(" | ")} |`;
}
