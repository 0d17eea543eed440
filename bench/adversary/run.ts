import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { Scenario, statusOf } from "../../test/network/adversary/support/scenario.ts";
import { describeMachine } from "../support/machine.ts";
import type { Damage, Orders } from "./attacker-process.ts";
import { FLOODS } from "./floods.ts";

const SLOT_MS = 500;
const SAMPLE_MS = 50;
const MEBIBYTE = 2 ** 20;
/** A block that is not there after this long is one that the node missed. */
const PATIENCE_MS = 10_000;

const mebibytes = (bytes: number) => (bytes / MEBIBYTE).toFixed(0);

/** Whether the node followed the chain through all floods. */
export async function benchAdversary(seconds: number): Promise<boolean> {
  console.log(`${describeMachine()}; ${seconds} s a flood.\n`);
  const scenario = await Scenario.begin({ forks: [{ fork: "altair", epoch: 0 }] });
  console.log(
    "| flood | sent | names used up | heap before | heap peak | heap after | RSS peak | blocks followed | slowest block |",
  );
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
  let isFollowing = true;
  for (const flood of Object.keys(FLOODS)) {
    const row = await endure(scenario, flood, seconds);
    isFollowing &&= row.isFollowing;
    console.log(`| ${row.cells.join(" | ")} |`);
  }
  await scenario.end();
  return isFollowing;
}

async function endure(scenario: Scenario, flood: string, seconds: number) {
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
  const attack = attacked(scenario, flood, seconds).finally(() => {
    isOver = true;
  });
  const [damage] = await Promise.all([attack, follow()]);
  clearInterval(sampling);
  globalThis.gc?.();
  const after = process.memoryUsage().heapUsed;
  const followed = delays.filter((delay) => delay < PATIENCE_MS).length;
  return {
    isFollowing: followed === delays.length,
    cells: [
      flood,
      damage.sent,
      damage.identities,
      `${mebibytes(before)} MiB`,
      `${mebibytes(peak.heap)} MiB`,
      `${mebibytes(after)} MiB`,
      `${mebibytes(peak.rss)} MiB`,
      `${followed} of ${delays.length}`,
      `${Math.max(...delays).toFixed(0)} ms`,
    ],
  };
}

/** From the beginning of the slot until the node has its block. */
async function timeToFollow(scenario: Scenario): Promise<number> {
  const start = performance.now();
  const patience = sleep(PATIENCE_MS, PATIENCE_MS, { ref: false });
  return Promise.race([scenario.expectFollowing().then(() => performance.now() - start), patience]);
}

async function attacked(scenario: Scenario, flood: string, seconds: number): Promise<Damage> {
  const child = fork(new URL("./attacker-process.ts", import.meta.url));
  const orders: Orders = {
    flood,
    seconds,
    address: scenario.victim.address,
    topics: scenario.pubsub.getTopics(),
    slot: scenario.network.clock.currentSlot,
    status: toHex(ssz.fulu.Status.serialize(statusOf(scenario.honest))),
  };
  child.send(orders);
  const [damage] = (await once(child, "message")) as [Damage];
  return damage;
}
