import { ssz } from "@lodestar/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { openDatabase } from "../../db/open-database.ts";
import { SlashingProtection, slashingProtectionStore } from "./slashing-protection.ts";

const attestation = (source: number, target: number) => {
  const data = ssz.phase0.AttestationData.defaultValue();
  data.source.epoch = source;
  data.target.epoch = target;
  return data;
};

describe("SlashingProtection", () => {
  it("allows one proposal per slot", () => {
    const history = new SlashingProtection();
    const refusal = /^Slashing protection: validator 1 has already signed a block for slot 5\.$/;
    history.recordProposal(1, 5);
    expect(() => history.recordProposal(1, 5)).toThrow(refusal);
    expect(() => history.recordProposal(1, 4)).toThrow(refusal);
    history.recordProposal(2, 5);
    history.recordProposal(1, 6);
  });

  it("rejects double and surround votes", () => {
    const history = new SlashingProtection();
    expect(history.recordAttestation(1, attestation(0, 0))).toBe(true);
    expect(history.recordAttestation(1, attestation(0, 0))).toBe(false);
    expect(history.recordAttestation(1, attestation(2, 3))).toBe(true);
    expect(history.recordAttestation(1, attestation(1, 4))).toBe(false);
    expect(history.recordAttestation(1, attestation(2, 2))).toBe(false);
    expect(history.recordAttestation(1, attestation(2, 4))).toBe(true);
    expect(history.recordAttestation(2, attestation(0, 0))).toBe(true);
  });
});

describe("slashing protection store", () => {
  it("keeps the latest record of each validator over a restart", async () => {
    const dir = removableDirectory();
    onTestFinished(() => dir.remove());
    const open = async () => {
      const db = await openDatabase(dir.path, { sync: false });
      return { db, history: await SlashingProtection.open(slashingProtectionStore(db)) };
    };
    const before = await open();
    before.history.recordProposal(1, 5);
    expect(before.history.recordAttestation(12, attestation(0, 1))).toBe(true);
    await before.history.flush();
    before.history.recordProposal(1, 6);
    await before.history.flush();
    await before.db.close();

    const { db, history } = await open();
    onTestFinished(() => db.close());
    expect(() => history.recordProposal(1, 6)).toThrow(/has already signed/);
    history.recordProposal(1, 7);
    history.recordProposal(12, 1);
    expect(history.recordAttestation(12, attestation(0, 1))).toBe(false);
    expect(history.recordAttestation(1, attestation(0, 0))).toBe(true);
  });
});

it("records one envelope and one payload attestation per slot, across restarts", async () => {
  const db = await openEmptyDatabase();
  const history = await SlashingProtection.open(slashingProtectionStore(db));
  history.recordEnvelope(3, 7);
  for (const slot of [7, 6]) expect(() => history.recordEnvelope(3, slot)).toThrow(/already signed/);
  expect([history.recordPayloadVote(3, 7), history.recordPayloadVote(3, 7)]).toEqual([true, false]);
  await history.flush();
  const again = await SlashingProtection.open(slashingProtectionStore(db));
  expect(again.latest(3)).toEqual({ ...again.latest(4), index: 3, revealed: 7, payloadVoted: 7 });
  expect(() => again.recordEnvelope(3, 7)).toThrow(/already signed/);
  again.recordEnvelope(3, 8);
  expect([again.recordPayloadVote(3, 7), again.recordPayloadVote(3, 8)]).toEqual([false, true]);
});
