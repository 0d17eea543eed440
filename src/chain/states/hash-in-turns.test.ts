import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { hashInTurns } from "./hash-in-turns.ts";

it("leaves a tree with the root that it has when it is hashed at once", async () => {
  const state = ssz.fulu.BeaconState.defaultValue();
  state.balances = Array.from({ length: 3000 }, (_, index) => index);
  state.validators = Array.from({ length: 70 }, () => ssz.phase0.Validator.defaultValue());
  const { node } = ssz.fulu.BeaconState.toViewDU(state);
  await hashInTurns(node);
  expect(node.h0).not.toBeNull();
  expect(node.root).toEqual(ssz.fulu.BeaconState.hashTreeRoot(state));
});
