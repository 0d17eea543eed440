import { type gloas, ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { SeenPayloads } from "./seen-payloads.ts";

const bidOf = (builderIndex: number, value: number, slot = 10): gloas.ExecutionPayloadBid => ({
  ...ssz.gloas.ExecutionPayloadBid.defaultValue(),
  slot,
  builderIndex,
  value,
});

it("knows the bids of each builder and the best value for a parent", () => {
  const { bids } = new SeenPayloads();
  bids.add(bidOf(1, 5));
  bids.add(bidOf(2, 3));
  expect([bids.has(bidOf(1, 9)), bids.has(bidOf(3, 9)), bids.bestValue(bidOf(3, 0))]).toEqual([true, false, 5]);
  const other = { ...bidOf(1, 9), parentBlockRoot: new Uint8Array(32).fill(1) };
  expect([bids.has(other), bids.bestValue(other)]).toEqual([false, undefined]);
});

it("drops bids, votes and preferences by slot, columns and envelopes by finality", () => {
  const seen = new SeenPayloads();
  const preferences = ssz.gloas.SignedProposerPreferences.defaultValue();
  preferences.message.proposalSlot = 10;
  const root = `0x${"00".repeat(32)}`;
  const envelope = ssz.gloas.ExecutionPayloadEnvelope.defaultValue();
  envelope.payload.slotNumber = 10;
  seen.bids.add(bidOf(1, 5));
  seen.preferences.add(preferences);
  seen.addVote(10, 7);
  seen.columns.add(10, root, 127);
  seen.addEnvelope(envelope);
  const isKept = () => [
    seen.bids.has(bidOf(1, 5)),
    seen.preferences.get(10, root) !== undefined,
    seen.hasVoted(10, 7),
    seen.columns.has(10, root, 127),
    seen.hasEnvelope(envelope),
  ];
  const snapshot = seen.capture();
  seen.pruneBySlot(12);
  expect(isKept()).toEqual([true, true, true, true, true]);
  seen.pruneBySlot(13);
  expect(isKept()).toEqual([false, false, false, true, true]);
  seen.pruneByFinality(11);
  expect(isKept()).toEqual([false, false, false, false, false]);
  seen.restore(snapshot);
  expect(isKept()).toEqual([true, true, true, true, true]);
  expect([seen.columns.has(10, root, 126), seen.hasVoted(10, 8)]).toEqual([false, false]);
});
