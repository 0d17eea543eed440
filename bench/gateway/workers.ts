import { printHeader, printRow } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Load } from "./load.ts";
import type { GatewayBenchOptions } from "./options.ts";
import { serveGateway, serveStillChain } from "./programs.ts";
import { callsOn } from "./speed.ts";

const WORKER_COUNTS = [1, 2, 4];
const CONNECTIONS = 64;

/**
 * Measures the requests per second of a gateway with 1, 2 and 4 worker processes. Node and load generator share the
 * cores, so more processes than free cores gain nothing.
 */
export function benchWorkers({ rounds, seconds }: GatewayBenchOptions): Promise<boolean> {
  return withTempDirectory(async (directory) => {
    const node = await serveStillChain(directory);
    const load = await Load.start();
    try {
      const calls = await callsOn(node);
      const rates = new Map<number, number[]>();
      for (const workers of WORKER_COUNTS) {
        const gateway = await serveGateway({ node: node.restUrl }, ["--workers", String(workers)]);
        try {
          const ofCalls: number[] = [];
          for (const { server, requests } of calls) {
            const order = { port: gateway.ports[server], requests, connections: CONNECTIONS, seconds };
            await load.run(order);
            const measured: number[] = [];
            for (let round = 0; round < rounds; round++) {
              const { millis, failures, seconds: elapsed } = await load.run(order);
              if (failures.length > 0) throw new Error(`${failures.length} requests failed; the first: ${failures[0]}`);
              measured.push(millis.length / elapsed);
            }
            ofCalls.push(measured.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]!);
          }
          rates.set(workers, ofCalls);
        } finally {
          await gateway.process.stop();
        }
      }
      printHeader(
        "requests per second",
        ...WORKER_COUNTS.map((count) => (count === 1 ? "1 process" : `${count} processes`)),
      );
      for (const [index, { title, server }] of calls.entries()) {
        printRow(`${title}, ${server}`, ...WORKER_COUNTS.map((count) => rates.get(count)![index]!.toFixed(0)));
      }
      return true;
    } finally {
      await load.end();
      await node.process.stop();
    }
  });
}
