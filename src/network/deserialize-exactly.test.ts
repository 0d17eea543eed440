import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { deserializeExactly, InexactNumberError } from "./deserialize-exactly.ts";

const { VoluntaryExit, Validator } = ssz.phase0;

it("reads what is exact, and the epochs that never come", () => {
  const exit = { epoch: 3, validatorIndex: 2 ** 53 - 1 };
  expect(deserializeExactly(VoluntaryExit, VoluntaryExit.serialize(exit))).toEqual(exit);
  const validator = { ...Validator.defaultValue(), exitEpoch: Number.POSITIVE_INFINITY };
  expect(deserializeExactly(Validator, Validator.serialize(validator))).toEqual(validator);
});

it("refuses what would have the root of something else", () => {
  const genuine = { epoch: 0, validatorIndex: 7 };
  const bytes = VoluntaryExit.serialize(genuine);
  bytes.fill(0xff, 0, 8);
  expect(VoluntaryExit.hashTreeRoot(VoluntaryExit.deserialize(bytes))).toEqual(VoluntaryExit.hashTreeRoot(genuine));
  expect(() => deserializeExactly(VoluntaryExit, bytes)).toThrow(InexactNumberError);
});
