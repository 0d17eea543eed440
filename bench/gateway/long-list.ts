import { join } from "node:path";
import { Reader, rpcBody, withMemory } from "../scale/clients.ts";
import { keptState, placedInTime } from "../scale/kept-state.ts";
import { ScaleNode } from "../scale/scale-node.ts";
import { SECONDS_PER_SLOT, STATE_SLOT } from "../scale/state.ts";
import { megabytes, printHeader, printRow, seconds } from "../scale/subject.ts";
import { median } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { takeTurns } from "../support/turns.ts";
import type { GatewayBenchOptions } from "./options.ts";
import { serveGateway } from "./programs.ts";

const LEAST_SPEED = 0.8;
const MOST_BYTES = 20e6;

const PROGRAM = { title: "The node", directory: join(import.meta.dirname, "../..") };

const LISTS = [
  { server: "JSON-RPC", path: "", method: "POST", body: rpcBody("get_v1_beacon_states_stateId_validators", ["head"]) },
  { server: "REST", path: "/eth/v1/beacon/states/head/validators", method: "GET", body: "" },
] as const;

/** All validators of a large state, through a gateway and from the node itself. */
export async function benchLongList({ validators, rounds }: GatewayBenchOptions): Promise<boolean> {
  const kept = await keptState(validators);
  return withTempDirectory(async (directory) => {
    const genesisTime = Math.floor(Date.now() / 1000) - STATE_SLOT * SECONDS_PER_SLOT;
    const stateFile = placedInTime(kept, genesisTime, directory);
    const node = await ScaleNode.start(PROGRAM, { ...kept, stateFile, dataDir: join(directory, "data") });
    const gateway = await serveGateway({ node: node.restUrl });
    const reader = await Reader.start();
    try {
      let isWithinBudget = true;
      printHeader(`all of ${validators} validators`, "size", "node", "gateway", "speed", "more memory of the gateway");
      for (const { server, path, method, body } of LISTS) {
        const headers = { "Content-Type": "application/json", Accept: "application/json" };
        const read = (url: string) => reader.read({ url, method, headers, body, concurrency: 1, times: 1 });
        const urls =
          server === "REST" ? [node.restUrl + path, gateway.restUrl + path] : [node.url, gateway.process.url];
        const sizes = new Set<number>();
        const [ofNode, ofGateway] = (await takeTurns(
          rounds,
          urls.map((url) => async () => {
            const { result, grownBytes } = await withMemory(gateway.process.pid, () => read(url));
            sizes.add(result.bytes);
            return { millis: result.millis[0]!, grownBytes };
          }),
        )) as [Read[], Read[]];
        if (sizes.size > 1) throw new Error(`The answers have different lengths: ${[...sizes].join(", ")} bytes.`);
        const speed = median(ofGateway.map(({ millis }, round) => ofNode[round]!.millis / millis));
        const grownBytes = Math.max(...ofGateway.map((one) => one.grownBytes));
        isWithinBudget &&= speed >= LEAST_SPEED && grownBytes < MOST_BYTES;
        const time = (of: Read[]) => seconds(median(of.map(({ millis }) => millis)));
        const cells = [megabytes([...sizes][0]!), time(ofNode), time(ofGateway), `${(speed * 100).toFixed(0)} %`];
        printRow(server, ...cells, megabytes(grownBytes));
      }
      return isWithinBudget;
    } finally {
      await reader.end();
      await gateway.process.stop();
      await node.stop();
    }
  });
}

interface Read {
  millis: number;
  grownBytes: number;
}
