import { setImmediate } from "node:timers/promises";
import { ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { Adversary } from "../../test/network/adversary/support/adversary.ts";
import { FLOODS, type FloodTarget } from "./floods.ts";

export interface Orders extends FloodTarget {
  flood: string;
  seconds: number;
  /** SSZ in hexadecimal digits. */
  status: string;
}

export interface Damage {
  /** Messages, requests or connections. */
  sent: number;
  /** Names that were used up. */
  identities: number;
}

process.once("message", async (orders: Orders) => {
  const flood = FLOODS[orders.flood]!;
  const status = ssz.fulu.Status.deserialize(fromHex(orders.status));
  const end = performance.now() + orders.seconds * 1000;
  const damage: Damage = { sent: 0, identities: 0 };
  let adversary: Adversary | undefined;
  while (performance.now() < end) {
    await setImmediate();
    if (adversary?.connection) {
      damage.sent += await flood(adversary, orders);
      continue;
    }
    await adversary?.close();
    adversary = await Adversary.open({ status: () => status });
    damage.identities++;
    await adversary.dial(orders.address).catch(() => undefined);
    if (adversary.connection) await adversary.introduce();
  }
  process.send!(damage, () => process.exit());
});
