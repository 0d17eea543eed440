import { printHeader, printRow } from "../scale/subject.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Yardstick } from "../support/yardstick.ts";
import { Load } from "./load.ts";
import type { GatewayBenchOptions } from "./options.ts";
import { serveGateway, serveStillChain } from "./programs.ts";
import { callsOn, measureRate, microsPerRequest, percent, sum, takeTurns, targetOf, times } from "./speed.ts";

/** Minimum requests per CPU second with validation, relative to those without. */
const MIN_SHARE = 0.9;
const WARM_UP_CONNECTIONS = 32;

/** Compares the CPU time per request of a gateway with and without response validation. */
export function benchValidation(options: GatewayBenchOptions): Promise<boolean> {
  return withTempDirectory(async (directory) => {
    const node = await serveStillChain(directory);
    const gateways = [
      await serveGateway({ node: node.restUrl }, ["--no-validation"]),
      await serveGateway({ node: node.restUrl }),
    ];
    const load = await Load.start();
    const yardstick = await Yardstick.start();
    try {
      const setting = { load, yardstick, ...options };
      const calls = await callsOn(node);
      for (const { server, requests } of calls) {
        for (const { ports } of gateways) {
          const order = { port: ports[server], requests, connections: WARM_UP_CONNECTIONS, seconds: options.seconds };
          await load.run(order);
        }
      }
      const rows = await takeTurns(
        calls.map(({ server, requests }) =>
          gateways.map((gateway) => () => measureRate(requests, targetOf(gateway, server), setting)),
        ),
        setting,
      );
      printHeader("validation", "CPU µs, off", "CPU µs, on", "on/off per core", "machine");
      let isFastEnough = true;
      for (const [index, { title, server }] of calls.entries()) {
        const { measured, slowdown } = rows[index]!;
        const [off, on] = measured.map((each) => microsPerRequest(sum(each))) as [number, number];
        isFastEnough &&= off / on >= MIN_SHARE;
        printRow(`${title}, ${server}`, off.toFixed(1), on.toFixed(1), percent(off / on), times(slowdown));
      }
      return isFastEnough;
    } finally {
      await yardstick.end();
      await load.end();
      for (const { process } of gateways) await process.stop();
      await node.process.stop();
    }
  });
}
