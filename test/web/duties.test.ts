import { expect, it } from "vitest";
import { listDuties } from "../../src/web/duties.ts";

const blocks = [
  { slot: 32, lane: 0 },
  { slot: 33, lane: 1 },
  { slot: 36, lane: 0 },
];
const attestation = { committee_index: "1", validator_committee_index: "0", committee_length: "4" };

it("lists proposals with their outcome, and only attestations ahead", () => {
  const proposer = [32, 33, 34, 38].map((slot) => ({ slot: String(slot) }));
  const attester = [35, 36, 41].map((slot) => ({ slot: String(slot), ...attestation }));
  expect(listDuties({ proposer, attester }, { blocks, currentSlot: 36, slotsPerEpoch: 8 })).toEqual([
    { epoch: 4, slot: 32, duty: "propose a block", outcome: "done" },
    { epoch: 4, slot: 33, duty: "propose a block", outcome: "orphaned" },
    { epoch: 4, slot: 34, duty: "propose a block", outcome: "missed" },
    { epoch: 4, slot: 36, duty: "attest in committee 1, position 1 of 4", outcome: "now" },
    { epoch: 4, slot: 38, duty: "propose a block", outcome: "ahead" },
    { epoch: 5, slot: 41, duty: "attest in committee 1, position 1 of 4", outcome: "ahead" },
  ]);
});

it("leaves out proposals of slots whose blocks are not known", () => {
  const duties = { proposer: [{ slot: "30" }], attester: [] };
  expect(listDuties(duties, { blocks, currentSlot: 36, slotsPerEpoch: 8 })).toEqual([]);
});
