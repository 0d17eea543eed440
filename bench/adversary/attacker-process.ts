import { setImmediate } from "node:timers/promises";
import { ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { Adversary } from "../../test/network/adversary/support/adversary.ts";
import { FLOODS, type FloodTarget } from "./floods.ts";

export interface FloodOrder extends FloodTarget {
  flood: string;
  seconds: number;
  /** SSZ as hex. */
  status: string;
}

export interface FloodReport {
  /** Messages, requests or connections. */
  sent: number;
  /** Peer ids used. */
  identities: number;
}

process.once("message", async (order: FloodOrder) => {
  const flood = FLOODS[order.flood]!;
  const status = ssz.fulu.Status.deserialize(fromHex(order.status));
  const end = performance.now() + order.seconds * 1000;
  const flooded: FloodReport = { sent: 0, identities: 0 };
  let adversary: Adversary | undefined;
  while (performance.now() < end) {
    await setImmediate();
    if (adversary?.connection) {
      flooded.sent += await flood(adversary, order);
      continue;
    }
    await adversary?.close();
    adversary = await Adversary.open({ status: () => status });
    flooded.identities++;
    await adversary.dial(order.address).catch(() => undefined);
    if (adversary.connection) await adversary.introduce();
  }
  process.send!(flooded, () => process.exit());
});
