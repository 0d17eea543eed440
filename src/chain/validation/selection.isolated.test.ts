import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  aggregatedAttestation,
  committeeOf,
  signAggregate,
} from "../../../test/support/chain/validation/attestations.ts";
import { contributionOf, signContribution } from "../../../test/support/chain/validation/sync-committee.ts";
import { summarize, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { validateAggregates } from "./aggregate.ts";
import { validateContributions } from "./sync-committee.ts";

// Committees in the minimal preset are so small that every validator is selected as an aggregator.
vi.mock("@lodestar/state-transition", async (importOriginal) => ({
  ...(await importOriginal<typeof import("@lodestar/state-transition")>()),
  isAggregatorFromCommitteeLength: () => false,
  isSyncCommitteeAggregator: () => false,
}));

let chain: TestChain;
beforeEach(() => {
  chain = new TestChain("fulu");
  chain.extend(1);
});
afterEach(() => chain.close());

it("rejects an aggregate of a validator that is not selected", async () => {
  const aggregate = signAggregate(chain, aggregatedAttestation(chain, [0], { slot: 1 }), committeeOf(chain, 1, 0)[0]!);
  expect(summarize(await validateAggregates(chain.context, [aggregate]))).toEqual([
    "reject not-selected-as-aggregator",
  ]);
});

it("rejects a contribution of a validator that is not selected", async () => {
  const signed = signContribution(chain, contributionOf(chain, 0, [0], { slot: 1 }));
  expect(summarize(await validateContributions(chain.context, [signed]))).toEqual([
    "reject not-selected-as-aggregator",
  ]);
});
