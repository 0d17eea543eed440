import { GENESIS_SLOT } from "@lodestar/params";
import type { BeaconChain } from "../chain/chain.ts";
import { DELAY_BUCKETS, type Instruments } from "./instruments.ts";

/** Adds metrics for the payloads of blocks since gloas. Returns a function that unsubscribes from chain events. */
export function addPayloadMetrics(instruments: Instruments, { events, clock, forkChoice }: BeaconChain): () => void {
  const payloads = instruments.counter("fanal_payloads_imported_total", "Imported payloads of blocks since gloas");
  const delay = instruments.histogram(
    "fanal_payload_delay_seconds",
    "Delay from the start of the slot until the payload of its block was imported, in chain time; from gloas on",
    DELAY_BUCKETS,
  );
  const missed = instruments.counter(
    "fanal_missed_payloads_total",
    "Heads that build on a block without its payload, except genesis; from gloas on",
  );
  const invalid = instruments.counter(
    "fanal_invalid_payloads_total",
    "Payloads of imported blocks that the execution engine rejected; from gloas on",
  );
  const unsubscribers = [
    events.on("payload", ({ slot }) => {
      payloads.inc();
      if (slot === clock.currentSlot) delay.observe(clock.nowSeconds() - clock.slotStartSeconds(slot));
    }),
    events.on("head", ({ root }) => {
      const parent = forkChoice.get(forkChoice.get(root)?.parentRoot ?? "");
      if (parent?.slot !== GENESIS_SLOT && forkChoice.parentPayloadStatus(root) === "empty") missed.inc();
    }),
    events.on("payloadInvalid", () => invalid.inc()),
  ];
  return () => {
    for (const unsubscribe of unsubscribers) unsubscribe();
  };
}
