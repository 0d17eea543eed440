import { setTimeout as sleep } from "node:timers/promises";
import { NodeProcess } from "../support/node-process.ts";
import { median } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { DevNetwork } from "./dev-network.ts";
import { connectedPeers } from "./joined.ts";
import { heading, mebibytes, seconds, table } from "./table.ts";

const IDLE_SECONDS = 60;
/** Excludes work at startup. */
const SETTLE_SECONDS = 10;
const STARTS = 7;

/** Measures the cost of p2p for an idle node and for its startup. */
export async function benchIdle(): Promise<void> {
  await idle();
  await startup();
}

/** Without blocks, peers only exchange keep-alive messages. */
function idle(): Promise<void> {
  heading(`Idle for ${IDLE_SECONDS} seconds: slots of 12 seconds, no blocks`);
  const options = { fork: "phase0", slotSeconds: 12, warmupEpochs: 0, validators: "none" } as const;
  return DevNetwork.with(options, async (network) => {
    const nodes = [
      await network.start({ flags: ["--no-p2p"] }),
      await network.start({ flags: ["--no-discovery", "--peer", network.address] }),
      await network.start(),
    ];
    const names = ["--no-p2p", "--no-discovery", "with discovery"];
    await sleep(SETTLE_SECONDS * 1000);
    const before = nodes.map(({ usage }) => usage.cpuSeconds);
    await sleep(IDLE_SECONDS * 1000);
    const row = table("", "peers", "CPU ms per second", "RSS");
    for (const [index, node] of nodes.entries()) {
      const { cpuSeconds, residentBytes } = node.usage;
      const spent = (1000 * (cpuSeconds - before[index]!)) / IDLE_SECONDS;
      row(names[index]!, await connectedPeers(node), spent.toFixed(2), mebibytes(residentBytes));
    }
  });
}

async function startup(): Promise<void> {
  heading(`From process start to the first answer, ${STARTS} starts each in turn, medians`);
  const row = table("", "without p2p", "with p2p", "ratio", "CPU without p2p", "CPU with p2p", "ratio");
  const ofDev = (flags: string[]) => () =>
    withTempDirectory((directory) => timeStart(["dev", "--warmup-epochs", "0", "--data-dir", directory, ...flags]));
  row("fanal dev", ...(await compare(ofDev([]), ofDev(["--p2p", "--p2p-port", "0"]))));
  const options = { fork: "phase0", slotSeconds: 12, warmupEpochs: 0, validators: "none" } as const;
  await DevNetwork.with(options, async ({ description }) => {
    const ofNode = (flags: string[]) => () =>
      withTempDirectory((directory) =>
        timeStart(["node", "--network", description, "--data-dir", directory, ...flags]),
      );
    const networked = ["--p2p-address", "127.0.0.1", "--p2p-port", "0"];
    row("fanal node", ...(await compare(ofNode(["--no-p2p"]), ofNode(networked))));
  });
}

/** Wall time and CPU time of all threads, in milliseconds. */
interface Start {
  elapsed: number;
  spent: number;
}

async function timeStart(args: string[]): Promise<Start> {
  const node = await NodeProcess.start("node", args);
  await node.head();
  const start = { elapsed: performance.now() - node.startedAt, spent: node.usage.cpuSeconds * 1000 };
  await node.stop();
  return start;
}

async function compare(without: () => Promise<Start>, withNetwork: () => Promise<Start>): Promise<string[]> {
  const pairs: [Start, Start][] = [];
  for (let turn = 0; turn < STARTS; turn++) pairs.push([await without(), await withNetwork()]);
  const cells = (value: (start: Start) => number) => [
    seconds(median(pairs.map(([first]) => value(first)))),
    seconds(median(pairs.map(([, second]) => value(second)))),
    median(pairs.map(([first, second]) => value(second) / value(first))).toFixed(2),
  ];
  return [...cells(({ elapsed }) => elapsed), ...cells(({ spent }) => spent)];
}
