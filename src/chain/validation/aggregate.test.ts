import { BitArray } from "@chainsafe/ssz";
import { MAX_COMMITTEES_PER_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type Attestation, type electra, type phase0, type SignedAggregateAndProof, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  aggregatedAttestation,
  committeeOf,
  signAggregate,
} from "../../../test/support/chain/validation/attestations.ts";
import { summarize, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { validateAggregates } from "./aggregate.ts";

let chain: TestChain;
let committee: Uint32Array;
afterEach(() => chain.close());

const validate = (...aggregates: SignedAggregateAndProof[]) => validateAggregates(chain.context, aggregates);
const votes = (positions: number[], change?: (data: phase0.AttestationData) => void) =>
  aggregatedAttestation(chain, positions, { slot: 2, change });
/** Signed by the committee member at the given position. */
const signedBy = (position: number, aggregate: Attestation) => signAggregate(chain, aggregate, committee[position]!);

function start(fork: "phase0" | "fulu"): void {
  chain = new TestChain(fork);
  chain.extend(1);
  chain.extend(2);
  committee = committeeOf(chain, 2, 0);
}

describe.each(["phase0", "fulu"] as const)("the rules for aggregates of %s", (fork) => {
  beforeEach(() => start(fork));

  it("accepts a valid aggregate with its details", async () => {
    const aggregate = aggregatedAttestation(chain, [1, 3], { slot: 2, committeeIndex: 1 });
    const members = committeeOf(chain, 2, 1);
    expect(await validate(signAggregate(chain, aggregate, members[0]!))).toEqual([
      {
        ok: true,
        value: {
          data: aggregate.data,
          dataRoot: toRootHex(ssz.phase0.AttestationData.hashTreeRoot(aggregate.data)),
          committeeIndex: 1,
          committee: members,
          bits: aggregate.aggregationBits,
          attestingIndices: [members[1], members[3]],
          signature: aggregate.signature,
          aggregatorIndex: members[0],
          fork,
        },
      },
    ]);
  });

  it("recognizes aggregates without new votes; accepts others once per aggregator", async () => {
    const first = signedBy(0, votes([0, 1, 2]));
    const outcomes = await validate(first, first, signedBy(1, votes([1, 2])), signedBy(2, votes([2, 3])));
    expect(summarize(outcomes)).toEqual(["ok", "known (ignore, already-known)", "known (ignore, already-known)", "ok"]);
    expect(summarize(await validate(first, signedBy(0, votes([1, 3]))))).toEqual([
      "known (ignore, already-known)",
      "known (ignore, already-known)",
    ]);
  });

  it("verifies the three signatures of all aggregates together", async () => {
    const verifyEach = vi.spyOn(chain.context.bls, "verifyEach");
    await validate(signedBy(0, votes([0])), signedBy(1, votes([1])));
    expect(verifyEach.mock.calls.map(([sets]) => sets.length)).toEqual([6]);
  });

  it("requires all three signatures; a rejected aggregate is not marked as seen", async () => {
    const aggregate = votes([0, 1]);
    const [aggregator, other] = [committee[0]!, committee[1]!];
    const outcomes = await validate(
      signAggregate(chain, aggregate, aggregator, { proofBy: other }),
      signAggregate(chain, aggregate, aggregator, { signedBy: other }),
      signedBy(0, { ...aggregate, signature: votes([0, 2]).signature }),
      signedBy(0, aggregate),
    );
    expect(summarize(outcomes)).toEqual([
      "reject bad-selection-proof",
      "reject bad-aggregator-signature",
      "reject bad-signature",
      "ok",
    ]);
  });

  it("requires the aggregator to be in the committee", async () => {
    const outsider = committeeOf(chain, 2, 1)[0]!;
    expect(summarize(await validate(signAggregate(chain, votes([0]), outsider)))).toEqual(["reject not-in-committee"]);
  });

  it.each<[expected: string, bits: BitArray]>([
    ["reject no-participants", BitArray.fromBitLen(4)],
    ["reject wrong-bits-length", BitArray.fromBoolArray([true, true, true, true, true])],
  ])("%s", async (expected, aggregationBits) => {
    expect(summarize(await validate(signedBy(0, { ...votes([0]), aggregationBits })))).toEqual([expected]);
  });

  it("rejects an aggregate without votes before its block is known", async () => {
    const { data, ...rest } = votes([0]);
    const unknown = { ...data, beaconBlockRoot: new Uint8Array(32).fill(9) };
    const empty = { ...rest, data: unknown, aggregationBits: BitArray.fromBitLen(4) };
    expect(summarize(await validate(signedBy(0, empty)))).toEqual(["reject no-participants"]);
  });

  it.each<[expected: string, change: (data: phase0.AttestationData) => void]>([
    [
      "reject target-epoch-mismatch",
      (data) => {
        data.target.epoch = 1;
      },
    ],
    [
      "ignore unknown-block",
      (data) => {
        data.beaconBlockRoot = new Uint8Array(32).fill(9);
      },
    ],
    [
      "reject wrong-target",
      (data) => {
        data.target.root = data.beaconBlockRoot;
      },
    ],
  ])("%s", async (expected, change) => {
    expect(summarize(await validate(signedBy(0, votes([0], change))))).toEqual([expected]);
  });

  it("accepts an aggregate half a second before its slot, not earlier", async () => {
    const aggregate = signedBy(0, votes([0]));
    chain.clock.set(2, -501);
    expect(summarize(await validate(aggregate))).toEqual(["ignore future-slot"]);
    chain.clock.set(2, -499);
    expect(summarize(await validate(aggregate))).toEqual(["ok"]);
  });

  it("ignores old attestations", async () => {
    const aggregate = signedBy(0, votes([0]));
    chain.clock.set(fork === "phase0" ? 2 + 33 : 2 * SLOTS_PER_EPOCH, 501);
    expect(summarize(await validate(aggregate))).toEqual(["ignore past-slot"]);
  });
});

describe("aggregates before Electra", () => {
  beforeEach(() => start("phase0"));

  it("rejects an unknown committee", async () => {
    const aggregate = votes([0], (data) => {
      data.index = 2;
    });
    expect(summarize(await validate(signedBy(0, aggregate)))).toEqual(["reject committee-index-out-of-range"]);
  });

  it("rejects the Electra type", async () => {
    const signed = signedBy(0, votes([0]));
    const committeeBits = BitArray.fromSingleBit(MAX_COMMITTEES_PER_SLOT, 0);
    const aggregate = { ...signed.message.aggregate, committeeBits };
    const message = { ...signed.message, aggregate } as electra.AggregateAndProof;
    expect(summarize(await validate({ ...signed, message }))).toEqual(["reject wrong-fork"]);
  });
});

describe("aggregates since Electra", () => {
  beforeEach(() => start("fulu"));

  const withCommittees = (...indices: number[]) => {
    const committeeBits = BitArray.fromBitLen(MAX_COMMITTEES_PER_SLOT);
    for (const index of indices) committeeBits.set(index, true);
    return signedBy(0, { ...votes([0]), committeeBits });
  };

  it.each<[expected: string, committees: number[]]>([
    ["reject not-one-committee", []],
    ["reject not-one-committee", [0, 1]],
    ["reject committee-index-out-of-range", [2]],
  ])("%s", async (expected, committees) => {
    expect(summarize(await validate(withCommittees(...committees)))).toEqual([expected]);
  });

  it("rejects a non-zero data index", async () => {
    const aggregate = votes([0], (data) => {
      data.index = 1;
    });
    expect(summarize(await validate(signedBy(0, aggregate)))).toEqual(["reject data-index-not-zero"]);
  });

  it("separates committees with the same data", async () => {
    const members = committeeOf(chain, 2, 1);
    const ofOther = aggregatedAttestation(chain, [0], { slot: 2, committeeIndex: 1 });
    const outcomes = await validate(signedBy(0, votes([0])), signAggregate(chain, ofOther, members[0]!));
    expect(summarize(outcomes)).toEqual(["ok", "ok"]);
  });

  it("rejects the pre-Electra type", async () => {
    const signed = signedBy(0, votes([0]));
    const { aggregationBits, data, signature } = signed.message.aggregate;
    const message: phase0.AggregateAndProof = { ...signed.message, aggregate: { aggregationBits, data, signature } };
    expect(summarize(await validate({ ...signed, message }))).toEqual(["reject wrong-fork"]);
  });
});
