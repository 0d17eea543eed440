import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { hashInSlices } from "./hash-in-slices.ts";

it("produces the same root as hashing at once", async () => {
  const state = ssz.fulu.BeaconState.defaultValue();
  state.balances = Array.from({ length: 3000 }, (_, index) => index);
  state.validators = Array.from({ length: 70 }, () => ssz.phase0.Validator.defaultValue());
  const { node } = ssz.fulu.BeaconState.toViewDU(state);
  await hashInSlices(node);
  expect(node.h0).not.toBeNull();
  expect(node.root).toEqual(ssz.fulu.BeaconState.hashTreeRoot(state));
});
