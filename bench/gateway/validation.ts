import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { percent, printHeader, printRow } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Yardstick } from "../support/yardstick.ts";
import { Load, restRequest, rpcRequest } from "./load.ts";
import type { GatewayBenchOptions } from "./options.ts";
import { type Served, serveGateway, serveStillChain } from "./programs.ts";
import { type Call, callsOn, measureRate, microsPerRequest, sum, takeTurns, targetOf, times } from "./speed.ts";

/** Minimum requests per CPU second with validation, relative to those without. */
const MIN_SHARE = 0.9;
/** The same where every answer is a block that is parsed and hashed. */
const MIN_HASHED_SHARE = 0.3;
const WARM_UP_CONNECTIONS = 32;

/** Compares the CPU time per request of a gateway with and without response validation. */
export function benchValidation(options: GatewayBenchOptions): Promise<boolean> {
  return withTempDirectory(async (directory) => {
    const node = await serveStillChain(directory);
    const configFile = join(directory, "uncached.yaml");
    await writeFile(configFile, "methods: { get_v1_beacon_blocks_blockId: { cache-seconds: 0 } }");
    const uncached = ["--config-file", configFile];
    const serve = async (args: readonly string[]) => [
      await serveGateway({ node: node.restUrl }, ["--no-validation", ...args]),
      await serveGateway({ node: node.restUrl }, args),
    ];
    const gateways = await serve([]);
    const uncachedGateways = await serve(uncached);
    const load = await Load.start();
    const yardstick = await Yardstick.start();
    try {
      const setting = { load, yardstick, ...options };
      const calls = [
        ...(await callsOn(node)).map((call) => ({ ...call, gateways, minShare: MIN_SHARE })),
        ...(await blocksByRoot(node)).map((call) => ({ ...call, gateways: uncachedGateways })),
      ];
      for (const { server, requests, gateways } of calls) {
        for (const { ports } of gateways) {
          const order = { port: ports[server], requests, connections: WARM_UP_CONNECTIONS, seconds: options.seconds };
          await load.run(order);
        }
      }
      const rows = await takeTurns(
        calls.map(({ server, requests, gateways }) =>
          gateways.map((gateway) => () => measureRate(requests, targetOf(gateway, server), setting)),
        ),
        setting,
      );
      printHeader("validation", "CPU µs, off", "CPU µs, on", "on/off per core", "machine");
      let isFastEnough = true;
      for (const [index, { title, server, minShare }] of calls.entries()) {
        const { measured, slowdown } = rows[index]!;
        const [off, on] = measured.map((each) => microsPerRequest(sum(each))) as [number, number];
        isFastEnough &&= off / on >= minShare;
        printRow(`${title}, ${server}`, off.toFixed(1), on.toFixed(1), percent(off / on), times(slowdown));
      }
      return isFastEnough;
    } finally {
      await yardstick.end();
      await load.end();
      for (const { process } of [...gateways, ...uncachedGateways]) await process.stop();
      await node.process.stop();
    }
  });
}

const RECENT_BLOCKS = 8;

/** Calls for recent blocks by root, whose roots the gateway computes. */
async function blocksByRoot({ process, restUrl }: Served): Promise<Call[]> {
  const { head_slot } = await process.head();
  const roots: string[] = [];
  for (let before = 0; before < RECENT_BLOCKS; before++) {
    const answer = await fetch(`${restUrl}/eth/v1/beacon/blocks/${Number(head_slot) - before}/root`);
    roots.push(((await answer.json()) as { data: { root: string } }).data.root);
  }
  const title = "recent blocks by root, not cached";
  const own = { title, minShare: MIN_HASHED_SHARE };
  return [
    {
      ...own,
      server: "JSON-RPC",
      requests: roots.map((root) => rpcRequest("get_v2_beacon_blocks_blockId", [root])),
    },
    { ...own, server: "REST", requests: roots.map((root) => restRequest(`/eth/v2/beacon/blocks/${root}`)) },
  ];
}
