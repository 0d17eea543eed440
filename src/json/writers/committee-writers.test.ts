import { routes } from "@lodestar/api";
import { expect, it } from "vitest";
import { SharedStream, writeToBuffer } from "../shared-stream.ts";
import { AttesterDutyRows } from "./committee-writers.ts";

const { EpochCommitteeResponseListType } = routes.beacon.state;
const { AttesterDutyListType } = routes.validator;

it("writes committees as the codec does, including empty ones and several buffers", async () => {
  const members = Uint32Array.from({ length: 90_000 }, (_, index) => (index * 7919) % 1_000_003);
  const committees = [
    { index: 0, slot: 13_440_000, length: 1 },
    { index: 1, slot: 13_440_000, length: 0 },
    { index: 63, slot: 13_440_031, length: 89_999 },
  ];
  const descriptor = { writer: "committees", input: { committees, members } } as const;
  const values = committees.map(({ index, slot, length }) => ({
    index,
    slot,
    validators: length === 1 ? [members[0]!] : Array.from(members.subarray(1, 1 + length)),
  }));
  const expected = JSON.stringify(EpochCommitteeResponseListType.toJson(values));
  expect(writeToBuffer(descriptor).toString()).toBe(expected);
  const buffers: Buffer[] = [];
  for await (const buffer of SharedStream.of(descriptor)) buffers.push(buffer);
  expect(buffers.length).toBeGreaterThan(2);
  expect(Buffer.concat(buffers).toString()).toBe(expected);
  expect(writeToBuffer({ writer: "committees", input: { committees: [], members } }).toString()).toBe("[]");
});

it("writes attester duties as the codec does", () => {
  const duties = Array.from({ length: 300 }, (_, index) => ({
    pubkey: new Uint8Array(48).fill(index),
    validatorIndex: index * 3331,
    committeeIndex: index % 64,
    committeeLength: 480 + (index % 2),
    position: index % 480,
    slotInEpoch: index % 32,
  }));
  const rows = new AttesterDutyRows(duties.length + 1);
  for (const { pubkey, ...row } of duties) rows.add(pubkey, row);
  const input = { firstSlot: 13_440_000, committeesAtSlot: 64, ...rows.columns };
  const values = duties.map(({ position, slotInEpoch, ...duty }) => ({
    ...duty,
    committeesAtSlot: 64,
    validatorCommitteeIndex: position,
    slot: 13_440_000 + slotInEpoch,
  }));
  const expected = JSON.stringify(AttesterDutyListType.toJson(values));
  expect(writeToBuffer({ writer: "attesterDuties", input }).toString()).toBe(expected);
  const none = { ...input, ...new AttesterDutyRows(0).columns };
  expect(writeToBuffer({ writer: "attesterDuties", input: none }).toString()).toBe("[]");
});
