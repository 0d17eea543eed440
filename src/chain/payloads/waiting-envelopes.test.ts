import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { type ArrivedEnvelope, WaitingEnvelopes } from "./waiting-envelopes.ts";

function envelope(root: string, slot: number): ArrivedEnvelope {
  const signed = ssz.gloas.SignedExecutionPayloadEnvelope.defaultValue();
  signed.message.payload.slotNumber = slot;
  return { signed, root, arrivedAt: slot };
}

it("keeps the newest two envelopes of a block, and hands them out once", () => {
  const waiting = new WaitingEnvelopes();
  const [forged, second, third] = [envelope("a", 1), envelope("a", 1), envelope("a", 1)];
  for (const each of [forged, second, second, third]) waiting.add(each);
  expect(waiting.take("a")).toEqual([second, third]);
  expect(waiting.take("a")).toEqual([]);
  expect(waiting.has("a")).toBe(false);
});

it("evicts the oldest block, prunes by slot, and returns the rest in slot order", () => {
  const waiting = new WaitingEnvelopes();
  for (let slot = 17; slot >= 1; slot--) waiting.add(envelope(`block ${slot}`, slot));
  expect([waiting.size, waiting.has("block 1"), waiting.has("block 2")]).toEqual([16, false, true]);
  waiting.prune(10);
  expect(waiting.takeAll().map(({ root }) => root)).toEqual([10, 11, 12, 13, 14, 15, 16, 17].map((n) => `block ${n}`));
  expect(waiting.size).toBe(0);
});
