import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { SlashingProtection } from "./slashing-protection.ts";

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
