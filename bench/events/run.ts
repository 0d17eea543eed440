import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "../support/child.ts";
import { describeMachine } from "../support/machine.ts";
import type { CpuUsage, MemoryUsage, NodeAddresses, PublishedHeads } from "./node-process.ts";
import type { Delivery, SubscribersReady } from "./subscribers-process.ts";

interface Options {
  subscribers: number;
  slots: number;
  idleSeconds: number;
}

/** Prints the measurements. Returns false unless every subscriber received every head in order. */
export async function benchEvents({ subscribers, slots, idleSeconds }: Options): Promise<boolean> {
  const { child: node, report: addresses } = await Child.start<NodeAddresses>("node-process", import.meta.url);
  const { child: load } = await Child.start("subscribers-process", import.meta.url);
  try {
    console.log(`${describeMachine()}; ${subscribers} subscribers, half SSE, half WebSocket; ${slots} slots\n`);
    const cpuMicroseconds = async () => (await node.ask<CpuUsage>({ ask: "cpu" })).cpuMicroseconds;
    const memory = async () => (await node.ask<MemoryUsage>({ ask: "memory" })).residentBytes;
    const idleCost = async () => {
      const before = await cpuMicroseconds();
      await sleep(idleSeconds * 1000);
      return ((await cpuMicroseconds()) - before) / idleSeconds / 1000;
    };

    // The first slots are a warm-up.
    await node.ask<PublishedHeads>({ slots });
    const alone = await node.ask<PublishedHeads>({ slots });
    const idleAlone = await idleCost();
    const before = await memory();
    const { millis } = await load.ask<SubscribersReady>({ ...addresses, subscribers });
    const connected = await memory();
    const idleWatched = await idleCost();
    const watched = await node.ask<PublishedHeads>({ slots });
    const delivery = await load.ask<Delivery>({ heads: watched.heads });
    const after = await memory();

    const perSlot = (run: PublishedHeads) => run.cpuMicroseconds / slots / 1000;
    const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
    console.log("| | without subscribers | with subscribers |");
    console.log("| --- | ---: | ---: |");
    console.log(`| CPU time per slot | ${perSlot(alone).toFixed(1)} ms | ${perSlot(watched).toFixed(1)} ms |`);
    console.log(`| CPU time per idle second | ${idleAlone.toFixed(2)} ms | ${idleWatched.toFixed(2)} ms |`);
    console.log(`| resident memory | ${mebibytes(before)} | ${mebibytes(connected)} |`);
    const events = subscribers * slots;
    const eachMicroseconds = (watched.cpuMicroseconds - alone.cpuMicroseconds) / events;
    console.log(`\nConnecting took ${(millis / 1000).toFixed(1)} s.`);
    console.log(`Resident memory after the last event: ${mebibytes(after)}.`);
    console.log(`CPU time per event and subscriber: ${eachMicroseconds.toFixed(1)} µs.`);
    console.log(`Subscribers that received every event in order: ${delivery.complete} of ${subscribers}.`);
    const { median, p99, longest } = delivery.delayMillis;
    console.log(`From the event to its reader: median ${median} ms, p99 ${p99} ms, longest ${longest} ms.`);
    return delivery.complete === subscribers;
  } finally {
    await Promise.all([node.end(), load.end()]);
  }
}
