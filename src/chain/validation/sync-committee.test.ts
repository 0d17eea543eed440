import { BitArray } from "@chainsafe/ssz";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type altair, ssz } from "@lodestar/types";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  contributionOf,
  membersOf,
  signContribution,
  syncMessage,
} from "../../../test/support/chain/validation/sync-committee.ts";
import { summarize, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { validateContributions, validateSyncMessages } from "./sync-committee.ts";
import { positionsOf } from "./sync-committee-at.ts";

const OTHER_ROOT = new Uint8Array(32).fill(9);

let chain: TestChain;
beforeEach(() => {
  chain = new TestChain("fulu");
  chain.extend(1);
  chain.extend(2);
});
afterEach(() => chain.close());

const committee = () => chain.headState.epochCtx.currentSyncCommitteeIndexed;
const outsider = () => chain.keys.indices.find((index) => !committee().validatorIndexMap.has(index))!;

describe("the rules for sync committee messages", () => {
  const validate = (...messages: altair.SyncCommitteeMessage[]) => validateSyncMessages(chain.context, messages);
  const message = (validatorIndex = committee().validatorIndices[0]!) =>
    syncMessage(chain, validatorIndex, { slot: 2 });

  it("accepts a message for every position of the member", async () => {
    const members = [...committee().validatorIndexMap.keys()];
    const outcomes = await validate(...members.map((index) => message(index)));
    const places = outcomes.flatMap((outcome) =>
      outcome.ok
        ? outcome.value.subcommittees.flatMap(({ subcommitteeIndex, indicesInSubcommittee }) =>
            indicesInSubcommittee.map((index) => [membersOf(chain, subcommitteeIndex)[index], outcome.value.message]),
          )
        : [],
    );
    expect(places).toHaveLength(committee().validatorIndices.length);
    for (const [validator, accepted] of places) expect(accepted).toMatchObject({ validatorIndex: validator });
  });

  it("recognizes a repeated message; ignores one for another block", async () => {
    const first = message();
    const other = syncMessage(chain, first.validatorIndex, { slot: 2, blockRoot: OTHER_ROOT });
    expect(summarize(await validate(first, first, other))).toEqual([
      "ok",
      "known (ignore, already-known)",
      "ignore conflicting-vote",
    ]);
    expect(summarize(await validate(first, other))).toEqual([
      "known (ignore, already-known)",
      "ignore conflicting-vote",
    ]);
  });

  it("rejects an invalid signature without marking it as seen", async () => {
    const good = message();
    expect(summarize(await validate({ ...good, beaconBlockRoot: OTHER_ROOT }, good))).toEqual([
      "reject bad-signature",
      "ok",
    ]);
  });

  it("verifies signatures together", async () => {
    const verifyEach = vi.spyOn(chain.context.bls, "verifyEach");
    const members = [...committee().validatorIndexMap.keys()].slice(0, 3);
    await validate(...members.map((index) => message(index)));
    expect(verifyEach.mock.calls.map(([sets]) => sets.length)).toEqual([3]);
  });

  it("rejects validators outside the committee", async () => {
    const outcomes = await validate(message(outsider()));
    expect(summarize(outcomes)).toEqual(["reject not-in-committee"]);
    const ofSlot = `Validator ${outsider()} is not in the sync committee of slot 2.`;
    expect(outcomes).toMatchObject([{ refusal: { message: ofSlot } }]);
  });

  it("counts a message on a subnet for that subcommittee only", async () => {
    const { validatorIndex } = message();
    const own = positionsOf(committee(), validatorIndex);
    const foreign = [0, 1, 2, 3].find((index) => !own.some(({ subcommitteeIndex }) => subcommitteeIndex === index))!;
    expect(await validateSyncMessages(chain.context, [message(), message()], [foreign, 0])).toMatchObject([
      { ok: false, refusal: { action: "reject", reason: "wrong-subnet" } },
      { ok: true, value: { subcommittees: [own[0]] } },
    ]);
  });

  it.each([
    [-501, "ignore future-slot"],
    [-499, "ok"],
    [6499, "ok"],
    [6501, "ignore past-slot"],
  ])("%i ms after the start of its slot: %s", async (offsetMs, expected) => {
    const current = message();
    chain.clock.set(2, offsetMs);
    expect(summarize(await validate(current))).toEqual([expected]);
  });

  it("the next period's committee signs from the last slot of the period on", async () => {
    const period = chain.headState.epochCtx;
    const next = { ...period.nextSyncCommitteeIndexed, validatorIndexMap: new Map([[outsider(), [0]]]) };
    vi.spyOn(period, "getIndexedSyncCommittee").mockImplementation((slot) =>
      slot + 1 >= 8 * SLOTS_PER_EPOCH ? next : period.currentSyncCommitteeIndexed,
    );
    const slot = 8 * SLOTS_PER_EPOCH - 1;
    chain.clock.set(slot);
    expect(summarize(await validate(syncMessage(chain, outsider(), { slot })))).toEqual(["ok"]);
    const { validatorIndex } = message();
    expect(await validate(syncMessage(chain, validatorIndex, { slot }))).toMatchObject([
      {
        refusal: {
          reason: "not-in-committee",
          message:
            `Validator ${validatorIndex} is not in the sync committee of slot ${slot}. The last slot of a sync period is ` +
            "signed by the committee of the next period.",
        },
      },
    ]);
  });

  it("ignores a message if the head is too old to know the committee", async () => {
    const slot = 20 * SLOTS_PER_EPOCH;
    const { validatorIndex } = message();
    chain.clock.set(slot);
    expect(summarize(await validate(syncMessage(chain, validatorIndex, { slot })))).toEqual([
      "ignore state-unavailable",
    ]);
  });

  it("ignores messages before Altair", async () => {
    const old = new TestChain("phase0");
    expect(summarize(await validateSyncMessages(old.context, [syncMessage(old, 0, { slot: 0 })]))).toEqual([
      "ignore wrong-fork",
    ]);
    await old.close();
  });
});

describe("the rules for sync committee contributions", () => {
  const validate = (...signed: altair.SignedContributionAndProof[]) => validateContributions(chain.context, signed);
  const contribution = (positions: number[], subcommittee = 1) =>
    contributionOf(chain, subcommittee, positions, { slot: 2 });
  const member = (position: number) => membersOf(chain, 1)[position]!;
  /** A member of subcommittee 1 that differs from the member at position 0. */
  const secondAggregator = () => membersOf(chain, 1).find((index) => index !== member(0))!;

  it("accepts a valid contribution", async () => {
    const signed = signContribution(chain, contribution([1, 4]));
    expect(await validate(signed)).toEqual([
      {
        ok: true,
        value: {
          contribution: signed.message.contribution,
          aggregatorIndex: member(0),
          blockRoot: chain.headRoot,
          participants: [member(1), member(4)],
        },
      },
    ]);
  });

  it("recognizes contributions without new signatures; accepts others once per aggregator", async () => {
    const first = signContribution(chain, contribution([0, 1, 2]));
    const outcomes = await validate(
      first,
      first,
      signContribution(chain, contribution([1, 2]), secondAggregator()),
      signContribution(chain, contribution([2, 3]), secondAggregator()),
      signContribution(chain, contribution([5])),
    );
    expect(summarize(outcomes)).toEqual([
      "ok",
      "known (ignore, already-known)",
      "known (ignore, already-known)",
      "ok",
      "known (ignore, already-known)",
    ]);
  });

  it("requires all three signatures and verifies them together", async () => {
    const verifyEach = vi.spyOn(chain.context.bls, "verifyEach");
    const good = contribution([0, 1]);
    const other = secondAggregator();
    const outcomes = await validate(
      signContribution(chain, good, member(0), { proofBy: other }),
      signContribution(chain, good, member(0), { signedBy: other }),
      signContribution(chain, { ...good, beaconBlockRoot: OTHER_ROOT }),
      signContribution(chain, good),
    );
    expect(summarize(outcomes)).toEqual([
      "reject bad-selection-proof",
      "reject bad-aggregator-signature",
      "reject bad-signature",
      "ok",
    ]);
    expect(verifyEach.mock.calls.map(([sets]) => sets.length)).toEqual([12]);
  });

  it.each<[expected: string, change: Partial<altair.SyncCommitteeContribution>]>([
    ["reject subcommittee-index-out-of-range", { subcommitteeIndex: 4 }],
    ["reject no-participants", { aggregationBits: BitArray.fromBitLen(8) }],
    ["ignore past-slot", { slot: 0 }],
    ["ignore future-slot", { slot: 3 }],
  ])("%s", async (expected, change) => {
    const signed = signContribution(chain, contribution([0]));
    const changed = ssz.altair.SignedContributionAndProof.clone(signed);
    Object.assign(changed.message.contribution, change);
    expect(summarize(await validate(changed))).toEqual([expected]);
  });

  it("requires the aggregator to be in the subcommittee", async () => {
    expect(summarize(await validate(signContribution(chain, contribution([0]), outsider())))).toEqual([
      "reject not-in-committee",
    ]);
  });
});
