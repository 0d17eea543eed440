import { type phase0, ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { createFakeChain } from "../../test/support/api/fake-chain.ts";
import { ValidatorCounts } from "./validator-counts.ts";

const FAR = Number.POSITIVE_INFINITY;

it.each(["phase0", "gloas"] as const)("counts validators of %s by status once per epoch", async (fork) => {
  const { headState } = createFakeChain([{ fork, epoch: 0 }]);
  const state = headState.clone();
  state.slot = 8 * 10;
  const change = (index: number, changes: Partial<phase0.Validator>) => {
    const validator = { ...state.validators.getReadonly(index).toValue(), ...changes };
    state.validators.set(index, ssz.phase0.Validator.toViewDU(validator));
  };
  change(0, { activationEligibilityEpoch: FAR, activationEpoch: FAR });
  change(1, { activationEpoch: 11 });
  change(2, { exitEpoch: 11, withdrawableEpoch: 20 });
  change(3, { exitEpoch: 10, withdrawableEpoch: 11 });
  change(4, { exitEpoch: 5, withdrawableEpoch: 10 });
  change(5, { exitEpoch: 5, withdrawableEpoch: 10, effectiveBalance: 0 });
  const counts = new ValidatorCounts();
  const counted = await counts.of(state);
  expect(counted).toEqual({ pending: 2, active: state.validators.length - 5, exited: 1, withdrawable: 2 });
  change(6, { exitEpoch: 10, withdrawableEpoch: 11 });
  state.slot++;
  expect(await counts.of(state)).toBe(counted);
  state.slot += 8;
  expect((await counts.of(state)).withdrawable).toBe(4);
});
