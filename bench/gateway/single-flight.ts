import { RedisProcess } from "../../test/support/gateway/redis-process.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Load, restRequest } from "./load.ts";
import { type Served, serveGateway, serveStillChain } from "./programs.ts";

const READS = 1000;
const SLOT = 9;
const METHOD = "get_v1_beacon_blocks_blockId";

/** Counts upstream requests for a thousand concurrent reads of the same finalized block through two gateways. */
export async function benchSingleFlight(): Promise<boolean> {
  return withTempDirectory(async (directory) => {
    const redis = await RedisProcess.open();
    const node = await serveStillChain(directory, ["--metrics", "--metrics-port", "0"]);
    const [, metricsUrl] = await node.process.untilLine(/Metrics are served at (http:[^\s"]+)/);
    const flags = ["--cache", redis.url];
    const gateways = [
      await serveGateway({ node: node.restUrl }, flags),
      await serveGateway({ node: node.restUrl }, flags),
    ];
    const loads = await Promise.all(gateways.map(() => Load.start()));
    try {
      const before = await countRequests(metricsUrl!);
      const reports = await Promise.all(gateways.map((gateway, index) => readOnce(gateway, loads[index]!)));
      const failed = reports.flatMap(({ failures }) => failures).length;
      const answered = reports.flatMap(({ millis }) => millis).length - failed;
      const requests = (await countRequests(metricsUrl!)) - before;
      console.log(
        `${answered} of ${READS} reads of a finalized block through two gateways succeeded; the node received ${requests} requests.`,
      );
      return requests === 1 && answered === READS;
    } finally {
      await Promise.all(loads.map((load) => load.end()));
      for (const { process } of [...gateways, node]) await process.stop();
      await redis.end();
    }
  });
}

function readOnce({ ports }: Served, load: Load) {
  const requests = [restRequest(`/eth/v2/beacon/blocks/${SLOT}`)];
  return load.run({ port: ports.REST, requests, connections: READS / 2, seconds: 0 });
}

/** Reads the number of block requests from the node's metrics. */
async function countRequests(metricsUrl: string): Promise<number> {
  const metrics = await (await fetch(metricsUrl)).text();
  const line = new RegExp(`^fanal_api_call_seconds_count\\{server="rest",method="${METHOD}"\\} (\\d+)$`, "m");
  return Number(line.exec(metrics)?.[1] ?? 0);
}
