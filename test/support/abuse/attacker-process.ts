/** Attacks a node on request of the parent. A separate process keeps the attacker's CPU time out of the figures. */
import { ATTACKS } from "./attacks.ts";
import { Clients, type Target } from "./clients.ts";

export type Order = { attack: string; target: Target } | "end";

let over = new AbortController();
let attack: Promise<void> | undefined;

process.on("message", async (order: Order) => {
  if (order !== "end") {
    over = new AbortController();
    attack = ATTACKS[order.attack]!(new Clients(order.target, over.signal));
    return;
  }
  over.abort();
  await attack;
  process.send!("ended");
});
process.once("disconnect", () => process.exit());
process.send!("ready");
