import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { deserializeExactly, UnsafeIntegerError } from "./deserialize-exactly.ts";

const { VoluntaryExit, Validator } = ssz.phase0;

it("deserializes safe integers and FAR_FUTURE_EPOCH", () => {
  const exit = { epoch: 3, validatorIndex: 2 ** 53 - 1 };
  expect(deserializeExactly(VoluntaryExit, VoluntaryExit.serialize(exit))).toEqual(exit);
  const validator = { ...Validator.defaultValue(), exitEpoch: Number.POSITIVE_INFINITY };
  expect(deserializeExactly(Validator, Validator.serialize(validator))).toEqual(validator);
});

it("rejects an integer that would round to another value", () => {
  const genuine = { epoch: 0, validatorIndex: 7 };
  const bytes = VoluntaryExit.serialize(genuine);
  bytes.fill(0xff, 0, 8);
  expect(VoluntaryExit.hashTreeRoot(VoluntaryExit.deserialize(bytes))).toEqual(VoluntaryExit.hashTreeRoot(genuine));
  expect(() => deserializeExactly(VoluntaryExit, bytes)).toThrow(UnsafeIntegerError);
});
