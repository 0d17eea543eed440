/** Attacks a node on command of its parent, in a separate process, so that its cost is not the node's. */
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
