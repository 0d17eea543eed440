import { describe, expect, it } from "vitest";
import { slotInJson } from "./slot-in-json.ts";

const slotOf = (value: unknown) => slotInJson(Buffer.from(JSON.stringify(value, null, 1)));

describe("the slot in JSON", () => {
  const vote = { aggregation_bits: "0x01", data: { slot: "76", index: "0" }, signature: "0x00" };
  const body = { attestations: [vote], graffiti: '"slot":"1",\\' };

  it("is that of a block, in any member order", () => {
    for (const message of [
      { slot: "77", body },
      { body, slot: 77 },
    ]) {
      expect(slotOf({ message, signature: "0x00" })).toBe(77);
      expect(slotOf({ signature: "0x00", message })).toBe(77);
      expect(slotOf({ blobs: ["0x00"], signed_block: { signature: "0x00", message } })).toBe(77);
    }
  });

  it("is that of the first attestation, aggregate, message or slashing", () => {
    expect(slotOf([vote, { data: { slot: "78" } }])).toBe(76);
    expect(slotOf([{ slot: "76", beacon_block_root: "0x00" }])).toBe(76);
    expect(slotOf([{ signature: "0x00", message: { aggregator_index: "1", aggregate: vote } }])).toBe(76);
    expect(slotOf({ attestation_1: { attesting_indices: ["1"], data: { slot: "76" } } })).toBe(76);
  });

  it("is that of a header", () => {
    const header = { header: { message: { slot: "79", proposer_index: "1" }, signature: "0x00" } };
    expect(slotOf({ data: { root: "0x00", canonical: true, ...header } })).toBe(79);
    expect(slotOf({ data: [{ root: "0x00", canonical: true, ...header }] })).toBe(79);
  });

  it("is undefined if missing or truncated", () => {
    expect(slotOf({ message: { body } })).toBeUndefined();
    expect(slotOf([])).toBeUndefined();
    expect(slotOf({ slot: "x" })).toBeUndefined();
    for (const text of ["", " ", "[", "{", '{"a', '{"a"', '{"a":', '{"a":"b', '{"message":{"body":{},', '{"slot":']) {
      expect(slotInJson(Buffer.from(text))).toBeUndefined();
    }
    expect(slotInJson(Buffer.from("[".repeat(1_000_000)))).toBeUndefined();
    expect(slotInJson(Buffer.from('{"message":'.repeat(100_000)))).toBeUndefined();
  });
});
