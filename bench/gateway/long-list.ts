import { join } from "node:path";
import { Reader, rpcBody, withMemory } from "../scale/clients.ts";
import { copyWithGenesisTime, keptState } from "../scale/kept-state.ts";
import { ScaleNode } from "../scale/scale-node.ts";
import { SECONDS_PER_SLOT, STATE_SLOT } from "../scale/state.ts";
import { median } from "../support/statistics.ts";
import { megabytes, percent, printHeader, printRow, seconds } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { takeTurns } from "../support/turns.ts";
import { BareProxy } from "./bare-proxy.ts";
import type { GatewayBenchOptions } from "./options.ts";
import { serveGateway } from "./programs.ts";

const MIN_SPEED = 0.6;
const MAX_GROWN_BYTES = 20e6;

const PROGRAM = { title: "The node", directory: join(import.meta.dirname, "../..") };

const LISTS = [
  { server: "JSON-RPC", path: "", method: "POST", body: rpcBody("get_v1_beacon_states_stateId_validators", ["head"]) },
  { server: "REST", path: "/eth/v1/beacon/states/head/validators", method: "GET", body: "" },
] as const;

/** Reads all validators of a large state: from the node, through a byte-forwarding proxy, and through a gateway. */
export async function benchLongList({ validators, rounds }: GatewayBenchOptions): Promise<boolean> {
  const kept = await keptState(validators);
  return withTempDirectory(async (directory) => {
    const genesisTime = Math.floor(Date.now() / 1000) - STATE_SLOT * SECONDS_PER_SLOT;
    const stateFile = copyWithGenesisTime(kept, genesisTime, directory);
    const node = await ScaleNode.start(PROGRAM, { ...kept, stateFile, dataDir: join(directory, "data") });
    const gateway = await serveGateway({ node: node.restUrl });
    const proxy = await BareProxy.start();
    const reader = await Reader.start();
    try {
      let isWithinBudget = true;
      const times = ["node", "bare proxy", "gateway"];
      const columns = ["size", ...times, "bare proxy/node", "gateway/node", "more memory of the gateway"];
      printHeader(`all of ${validators} validators`, ...columns);
      for (const { server, path, method, body } of LISTS) {
        const headers = { "Content-Type": "application/json", Accept: "application/json" };
        const read = (url: string) => reader.read({ url, method, headers, body, concurrency: 1, times: 1 });
        const isRest = server === "REST";
        const direct = isRest ? node.restUrl + path : node.url;
        const through = isRest ? gateway.restUrl + path : gateway.process.url;
        const sizes = new Set<number>();
        const reads = await takeTurns(
          rounds,
          [direct, await proxy.urlBefore(direct), through].map((url) => async () => {
            const { result, grownBytes } = await withMemory(gateway.process.pid, () => read(url));
            sizes.add(result.bytes);
            return { millis: result.millis[0]!, grownBytes };
          }),
        );
        const [ofNode, ofProxy, ofGateway] = reads as [Read[], Read[], Read[]];
        if (sizes.size > 1) throw new Error(`The answers have different lengths: ${[...sizes].join(", ")} bytes.`);
        const speedOf = (of: Read[]) => median(of.map(({ millis }, round) => ofNode[round]!.millis / millis));
        const grownBytes = Math.max(...ofGateway.map((one) => one.grownBytes));
        isWithinBudget &&= speedOf(ofGateway) >= MIN_SPEED && grownBytes < MAX_GROWN_BYTES;
        const time = (of: Read[]) => seconds(median(of.map(({ millis }) => millis)));
        const speeds = [ofProxy, ofGateway].map((of) => percent(speedOf(of)));
        const cells = [megabytes([...sizes][0]!), ...reads.map(time), ...speeds, megabytes(grownBytes)];
        printRow(server, ...cells);
      }
      return isWithinBudget;
    } finally {
      await reader.end();
      await proxy.end();
      await gateway.process.stop();
      await node.stop();
    }
  });
}

interface Read {
  millis: number;
  grownBytes: number;
}
