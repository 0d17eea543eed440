import { ssz } from "@lodestar/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../db/open-database.ts";
import { createTempDir } from "../../db/temp-dir.test-support.ts";
import { SlashingProtection, slashingProtectionStore } from "./slashing-protection.ts";

const attestation = (source: number, target: number) => {
  const data = ssz.phase0.AttestationData.defaultValue();
  data.source.epoch = source;
  data.target.epoch = target;
  return data;
};

describe("SlashingProtection", () => {
  it("lets a validator propose each slot once", () => {
    const history = new SlashingProtection();
    const refusal = /^Validator 1 has already signed a block for slot \d or a later one\.$/;
    history.noteProposal(1, 5);
    expect(() => history.noteProposal(1, 5)).toThrow(refusal);
    expect(() => history.noteProposal(1, 4)).toThrow(refusal);
    history.noteProposal(2, 5);
    history.noteProposal(1, 6);
  });

  it("lets a validator attest to each target once and never around an earlier attestation", () => {
    const history = new SlashingProtection();
    expect(history.mayAttest(1, attestation(0, 0))).toBe(true);
    expect(history.mayAttest(1, attestation(0, 0))).toBe(false);
    expect(history.mayAttest(1, attestation(2, 3))).toBe(true);
    expect(history.mayAttest(1, attestation(1, 4))).toBe(false);
    expect(history.mayAttest(1, attestation(2, 2))).toBe(false);
    expect(history.mayAttest(1, attestation(2, 4))).toBe(true);
    expect(history.mayAttest(2, attestation(0, 0))).toBe(true);
  });
});

describe("what validators signed, in the database of their node", () => {
  it("is there after a restart, of each validator the latest", async () => {
    const dir = await createTempDir();
    onTestFinished(() => dir.remove());
    const open = async () => {
      const db = await openDatabase(dir.path, { sync: false });
      return { db, history: await SlashingProtection.open(slashingProtectionStore(db)) };
    };
    const before = await open();
    before.history.noteProposal(1, 5);
    expect(before.history.mayAttest(12, attestation(0, 1))).toBe(true);
    await before.history.keep();
    before.history.noteProposal(1, 6);
    await before.history.keep();
    await before.db.close();

    const { db, history } = await open();
    onTestFinished(() => db.close());
    expect(() => history.noteProposal(1, 6)).toThrow(/has already signed/);
    history.noteProposal(1, 7);
    history.noteProposal(12, 1);
    expect(history.mayAttest(12, attestation(0, 1))).toBe(false);
    expect(history.mayAttest(1, attestation(0, 0))).toBe(true);
  });
});
