import { getValidatorStatus, mapToGeneralStatus, ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { statusAt, statusSet, VALIDATOR_STATUSES } from "./validator-status.ts";

const EPOCH = 10;
/** Values around the epoch and around 2^32, and FAR_FUTURE_EPOCH. */
const EPOCHS = [0, EPOCH - 1, EPOCH, EPOCH + 1, 2 ** 32 + EPOCH, 2 ** 53, Number.POSITIVE_INFINITY];

function* allValidators() {
  const validator = ssz.phase0.Validator.defaultValue();
  for (validator.activationEligibilityEpoch of EPOCHS)
    for (validator.activationEpoch of EPOCHS)
      for (validator.exitEpoch of EPOCHS)
        for (validator.withdrawableEpoch of EPOCHS)
          for (validator.slashed of [false, true]) for (validator.effectiveBalance of [0, 1, 2 ** 32]) yield validator;
}

describe("validator status", () => {
  it("is that of the library for all combinations of fields", () => {
    const different: unknown[] = [];
    // A non-zero offset, as most validators have.
    const bytes = new Uint8Array(2 * 121);
    const view = new DataView(bytes.buffer);
    for (const validator of allValidators()) {
      ssz.phase0.Validator.value_serializeToBytes({ uint8Array: bytes, dataView: view }, 121, validator);
      const status = VALIDATOR_STATUSES[statusAt(view, 121, EPOCH)];
      if (status !== getValidatorStatus(validator, EPOCH)) different.push({ ...validator, status });
    }
    expect(different).toEqual([]);
  });

  it.each([...VALIDATOR_STATUSES, "pending", "active", "exited", "withdrawal"])("matches the word %s", (word) => {
    const set = statusSet([word]);
    const found = VALIDATOR_STATUSES.filter((_, bit) => (set & (1 << bit)) !== 0);
    expect(found).toEqual(
      VALIDATOR_STATUSES.filter((status) => status === word || mapToGeneralStatus(status) === word),
    );
  });

  it("matches any status without words, and the union of several words", () => {
    expect(statusSet([])).toBe(statusSet([...VALIDATOR_STATUSES]));
    expect(statusSet(["active", "withdrawal_done"])).toBe(statusSet(["active"]) | statusSet(["withdrawal_done"]));
  });
});
