import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { Scenario, statusOf } from "../../test/network/adversary/support/scenario.ts";
import { mebibytes, milliseconds, printHeader, printRow, printSetting } from "../support/table.ts";
import type { FloodOrder, FloodReport } from "./attacker-process.ts";
import { FLOODS } from "./floods.ts";

const SLOT_MS = 500;
const SAMPLE_MS = 50;
/** A block that takes longer counts as missed. */
const TIMEOUT_MS = 10_000;

/** Prints a row per flood. Returns false if the node missed a block. */
export async function benchAdversary(seconds: number): Promise<boolean> {
  printSetting(`${seconds} s per flood`);
  const scenario = await Scenario.begin({ forks: [{ fork: "altair", epoch: 0 }] });
  const heap = ["heap before", "heap peak", "heap after"];
  printHeader("flood", "sent", "peer ids used", ...heap, "RSS peak", "blocks followed", "slowest block");
  let isFollowing = true;
  for (const flood of Object.keys(FLOODS)) {
    const row = await runFlood(scenario, flood, seconds);
    isFollowing &&= row.isFollowing;
    printRow(...row.cells);
  }
  await scenario.end();
  return isFollowing;
}

async function runFlood(scenario: Scenario, flood: string, seconds: number) {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const peak = { heap: 0, rss: 0 };
  const sampling = setInterval(() => {
    const { heapUsed, rss } = process.memoryUsage();
    peak.heap = Math.max(peak.heap, heapUsed);
    peak.rss = Math.max(peak.rss, rss);
  }, SAMPLE_MS);
  const delays: number[] = [];
  let isOver = false;
  const follow = async () => {
    while (!isOver) {
      await sleep(SLOT_MS);
      delays.push(await timeToFollow(scenario));
    }
  };
  const attack = runAttacker(scenario, flood, seconds).finally(() => {
    isOver = true;
  });
  const [flooded] = await Promise.all([attack, follow()]);
  clearInterval(sampling);
  globalThis.gc?.();
  const after = process.memoryUsage().heapUsed;
  const followed = delays.filter((delay) => delay < TIMEOUT_MS).length;
  return {
    isFollowing: followed === delays.length,
    cells: [
      flood,
      flooded.sent,
      flooded.identities,
      mebibytes(before),
      mebibytes(peak.heap),
      mebibytes(after),
      mebibytes(peak.rss),
      `${followed} of ${delays.length}`,
      milliseconds(Math.max(...delays)),
    ],
  };
}

/** Milliseconds from the start of the slot until the node has its block. */
async function timeToFollow(scenario: Scenario): Promise<number> {
  const start = performance.now();
  const timeout = sleep(TIMEOUT_MS, TIMEOUT_MS, { ref: false });
  return Promise.race([scenario.expectFollowing().then(() => performance.now() - start), timeout]);
}

async function runAttacker(scenario: Scenario, flood: string, seconds: number): Promise<FloodReport> {
  const child = fork(new URL("./attacker-process.ts", import.meta.url));
  const order: FloodOrder = {
    flood,
    seconds,
    address: scenario.victim.address,
    topics: scenario.pubsub.getTopics(),
    slot: scenario.network.clock.currentSlot,
    status: toHex(ssz.fulu.Status.serialize(statusOf(scenario.honest))),
  };
  child.send(order);
  const [flooded] = (await once(child, "message")) as [FloodReport];
  return flooded;
}
