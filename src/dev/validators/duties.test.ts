import { createBeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "../chain-config.ts";
import type { DevFork } from "../forks.ts";
import { InteropKeys } from "../interop-keys.ts";
import { Duties } from "./duties.ts";
import { ValidatorSigner } from "./signer.ts";
import type { ValidatorApi } from "./validator-api.ts";

/** Creates an API that returns no duties and records the requested epochs. */
function dutiesIn(fork: DevFork, dependentRoots: { proposers: string; attesters: string }) {
  const config = createBeaconConfig(
    devChainConfig({ forks: [{ fork, epoch: 0 }], slotSeconds: 6, genesisTime: 0 }),
    new Uint8Array(32),
  );
  const fetched: string[] = [];
  const validator: Partial<ValidatorApi["validator"]> = {
    async getProposerDuties({ epoch }) {
      fetched.push(`proposers of ${epoch}`);
      return { data: [], meta: { executionOptimistic: false, dependentRoot: dependentRoots.proposers } };
    },
    async getAttesterDuties({ epoch }) {
      fetched.push(`attesters of ${epoch}`);
      return { data: [], meta: { executionOptimistic: false, dependentRoot: dependentRoots.attesters } };
    },
    async getSyncCommitteeDuties({ epoch }) {
      fetched.push(`sync committee of ${epoch}`);
      return { data: [], meta: { executionOptimistic: false } };
    },
  };
  const api = { validator, beacon: {} } as ValidatorApi;
  const keys = new InteropKeys(1);
  const duties = new Duties({ api, config, keys, signer: new ValidatorSigner(config, keys) });
  const askAt = async (slot: number) => {
    await duties.proposerAt(slot);
    await duties.attestersAt(slot);
  };
  return { duties, fetched, askAt };
}

const firstSlotOfEpoch2 = 2 * SLOTS_PER_EPOCH;
const head = { slot: firstSlotOfEpoch2, root: "0xhead" };

describe("Duties", () => {
  it("keeps duties with matching dependent roots", async () => {
    const { duties, fetched, askAt } = dutiesIn("electra", { proposers: "0xcurrent", attesters: "0xprevious" });
    await askAt(firstSlotOfEpoch2);
    duties.onHead({ ...head, previousDutyDependentRoot: "0xprevious", currentDutyDependentRoot: "0xcurrent" });
    await askAt(firstSlotOfEpoch2 + 1);
    expect(fetched).toEqual(["proposers of 2", "attesters of 2"]);
  });

  it("fetches duties again if the dependent root has changed", async () => {
    const { duties, fetched, askAt } = dutiesIn("electra", { proposers: "0xprevious", attesters: "0xcurrent" });
    await askAt(firstSlotOfEpoch2);
    duties.onHead({ ...head, previousDutyDependentRoot: "0xprevious", currentDutyDependentRoot: "0xcurrent" });
    await askAt(firstSlotOfEpoch2 + 1);
    expect(fetched).toEqual(["proposers of 2", "attesters of 2", "proposers of 2", "attesters of 2"]);
  });

  it("checks duties of the next epoch before it starts", async () => {
    const { duties, fetched, askAt } = dutiesIn("electra", { proposers: "0xold", attesters: "0xcurrent" });
    await askAt(firstSlotOfEpoch2 + SLOTS_PER_EPOCH);
    duties.onHead({ ...head, previousDutyDependentRoot: "0xprevious", currentDutyDependentRoot: "0xcurrent" });
    await askAt(firstSlotOfEpoch2 + SLOTS_PER_EPOCH);
    expect(fetched).toEqual(["proposers of 3", "attesters of 3", "proposers of 3"]);
  });

  it("accepts the earlier dependent root of Fulu's proposer lookahead", async () => {
    const { duties, fetched, askAt } = dutiesIn("fulu", { proposers: "0xprevious", attesters: "0xprevious" });
    await askAt(firstSlotOfEpoch2);
    duties.onHead({ ...head, previousDutyDependentRoot: "0xprevious", currentDutyDependentRoot: "0xcurrent" });
    await askAt(firstSlotOfEpoch2 + 1);
    expect(fetched).toEqual(["proposers of 2", "attesters of 2"]);
  });

  it("uses the next epoch's sync committee in the last slot of an epoch", async () => {
    const { duties, fetched } = dutiesIn("altair", { proposers: "", attesters: "" });
    await duties.syncCommitteeAt(firstSlotOfEpoch2 - 2);
    await duties.syncCommitteeAt(firstSlotOfEpoch2 - 1);
    await duties.syncCommitteeAt(firstSlotOfEpoch2);
    expect(fetched).toEqual(["sync committee of 1", "sync committee of 2"]);
  });
});
