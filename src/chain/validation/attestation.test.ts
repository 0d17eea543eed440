import { BitArray } from "@chainsafe/ssz";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type phase0, type SingleAttestation, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { committeeOf, singleAttestation } from "../../../test/support/chain/validation/attestations.ts";
import { summarize, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { validateAttestations } from "./attestation.ts";

let chain: TestChain;
afterEach(() => chain.close());

const validate = (...attestations: SingleAttestation[]) => validateAttestations(chain.context, attestations);

describe.each(["phase0", "fulu"] as const)("the rules for single attestations of %s", (fork) => {
  beforeEach(() => {
    chain = new TestChain(fork);
    chain.extend(1);
    chain.extend(2);
  });

  it("accepts a valid attestation with its details", async () => {
    const attestation = singleAttestation(chain, 1, { slot: 2, committeeIndex: 1 });
    const committee = committeeOf(chain, 2, 1);
    expect(await validate(attestation)).toEqual([
      {
        ok: true,
        value: {
          data: attestation.data,
          dataRoot: toRootHex(ssz.phase0.AttestationData.hashTreeRoot(attestation.data)),
          committeeIndex: 1,
          committee,
          position: 1,
          validatorIndex: committee[1],
          signature: attestation.signature,
          fork,
          // Slots 0, 1 and 2 have two committees each.
          subnet: 5,
        },
      },
    ]);
  });

  it("recognizes a repeated attestation, within a batch and later; ignores a conflicting one", async () => {
    const vote = singleAttestation(chain, 0, { slot: 2 });
    const other = singleAttestation(chain, 0, { slot: 2, head: chain.genesisRoot });
    expect(summarize(await validate(vote, vote, other))).toEqual([
      "ok",
      "known (ignore, already-known)",
      "ignore conflicting-vote",
    ]);
    expect(summarize(await validate(vote, other))).toEqual([
      "known (ignore, already-known)",
      "ignore conflicting-vote",
    ]);
  });

  it("rejects an invalid signature without affecting a later valid attestation", async () => {
    const good = singleAttestation(chain, 0, { slot: 2 });
    const { signature } = singleAttestation(chain, 1, { slot: 2 });
    const outcomes = await validate({ ...good, signature }, good, { ...good, signature: new Uint8Array(96) });
    expect(summarize(outcomes)).toEqual(["reject bad-signature", "ok", "reject bad-signature"]);
  });

  it("verifies signatures of a batch together and requests the shuffling once per data", async () => {
    const verifyEach = vi.spyOn(chain.context.bls, "verifyEach");
    const shuffling = vi.spyOn(chain.context.states, "shuffling");
    const votes = [0, 1, 2].map((position) => singleAttestation(chain, position, { slot: 2 }));
    expect(summarize(await validate(...votes))).toEqual(["ok", "ok", "ok"]);
    expect(verifyEach.mock.calls.map(([sets]) => sets.length)).toEqual([3]);
    expect(shuffling).toHaveBeenCalledTimes(1);
  });

  it("accepts an attestation only on its committee's subnet", async () => {
    const votes = [0, 1, 2].map((position) => singleAttestation(chain, position, { slot: 2 }));
    const outcomes = await validateAttestations(chain.context, votes, [4, 5, 4]);
    expect(summarize(outcomes)).toEqual(["ok", "reject wrong-subnet", "ok"]);
    expect(await validateAttestations(chain.context, [votes[1]!])).toMatchObject([{ ok: true, value: { subnet: 4 } }]);
  });

  it("accepts an attestation half a second before its slot, not earlier", async () => {
    const vote = singleAttestation(chain, 0, { slot: 3 });
    chain.clock.set(3, -501);
    expect(summarize(await validate(vote))).toEqual(["ignore future-slot"]);
    chain.clock.set(3, -499);
    expect(summarize(await validate(vote))).toEqual(["ok"]);
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
      "reject invalid-block",
      (data) => {
        data.beaconBlockRoot = new Uint8Array(32).fill(8);
        chain.context.invalidBlocks.add(toRootHex(data.beaconBlockRoot));
      },
    ],
    [
      "reject wrong-target",
      (data) => {
        data.target.root = data.beaconBlockRoot;
      },
    ],
  ])("%s", async (expected, change) => {
    expect(summarize(await validate(singleAttestation(chain, 0, { slot: 2, change })))).toEqual([expected]);
  });

  it("ignores an attestation to a block after its own slot", async () => {
    const vote = singleAttestation(chain, 0, { slot: 1 });
    expect(summarize(await validate(vote))).toEqual(["ignore block-after-vote"]);
  });

  it("ignores an attestation to a block before the previous epoch, except the head", async () => {
    const headRoot = chain.forkChoice.updateHead().root;
    const slot = 2 * SLOTS_PER_EPOCH;
    chain.clock.set(slot);
    const shuffling = vi.spyOn(chain.context.states, "shuffling");
    const { data, ...rest } = singleAttestation(chain, 0, { slot: 2 });
    const voteFor = (head: string) => ({ ...rest, data: chain.voteData(slot, 0, head) }) as SingleAttestation;
    expect(summarize(await validate(voteFor(chain.genesisRoot)))).toEqual(["ignore block-too-old"]);
    expect(shuffling).not.toHaveBeenCalled();
    await validate(voteFor(headRoot));
    expect(shuffling.mock.calls).toEqual([[headRoot, 2]]);
  });

  it("validates an attestation to an old block that was the head at its slot", async () => {
    const headRoot = chain.headRoot;
    const slot = 2 * SLOTS_PER_EPOCH + 1;
    chain.clock.set(slot + 1);
    chain.extend(slot + 1);
    expect(chain.forkChoice.updateHead().slot).toBe(slot + 1);
    expect(summarize(await validate(singleAttestation(chain, 0, { slot, head: headRoot })))).toEqual(["ok"]);
    expect(summarize(await validate(singleAttestation(chain, 1, { slot, head: chain.genesisRoot })))).toEqual([
      "ignore block-too-old",
    ]);
  });

  it("ignores an attestation to a block off the finalized chain", async () => {
    const stale = chain.headRoot;
    const boundary = chain.extend(SLOTS_PER_EPOCH, { parent: chain.genesisRoot });
    chain.extend(SLOTS_PER_EPOCH + 1, { finalized: { epoch: 1, root: boundary } });
    const slot = SLOTS_PER_EPOCH + 1;
    expect(
      summarize(
        await validate(singleAttestation(chain, 0, { slot, head: stale }), singleAttestation(chain, 1, { slot })),
      ),
    ).toEqual(["ignore not-descended-from-finalized", "ok"]);
  });

  it("ignores an attestation whose target is before the oldest known block", async () => {
    const latest = chain.extend(SLOTS_PER_EPOCH + 1);
    const vote = singleAttestation(chain, 0, { slot: SLOTS_PER_EPOCH + 2 });
    chain.extend(2 * SLOTS_PER_EPOCH + 1, { finalized: { epoch: 2, root: latest } });
    chain.forkChoice.prune();
    expect(summarize(await validate(vote))).toEqual(["ignore unknown-target"]);
  });

  it("ignores an attestation if the shuffling is unavailable", async () => {
    vi.spyOn(chain.context.states, "shuffling").mockRejectedValue(new Error("gone"));
    expect(summarize(await validate(singleAttestation(chain, 0, { slot: 2 })))).toEqual(["ignore state-unavailable"]);
  });
});

describe("single attestations before Electra", () => {
  const vote = (position = 0, options: Partial<Parameters<typeof singleAttestation>[2]> = {}) =>
    singleAttestation(chain, position, { slot: 2, ...options }) as phase0.Attestation;
  beforeEach(() => {
    chain = new TestChain("phase0");
    chain.extend(2);
  });

  it("accepts attestations for 32 slots", async () => {
    const votes = [vote(0), vote(1)];
    chain.clock.set(35, 499);
    expect(summarize(await validate(votes[0]!))).toEqual(["ok"]);
    chain.clock.set(35, 501);
    expect(summarize(await validate(votes[1]!))).toEqual(["ignore past-slot"]);
  });

  it.each<[expected: string, aggregationBits: BitArray]>([
    ["reject not-one-vote", BitArray.fromBoolArray([true, true, false, false])],
    ["reject not-one-vote", BitArray.fromBoolArray([false, false, false, false])],
    ["reject wrong-bits-length", BitArray.fromBoolArray([true, false, false])],
  ])("%s", async (expected, aggregationBits) => {
    expect(summarize(await validate({ ...vote(), aggregationBits }))).toEqual([expected]);
  });

  it("rejects two votes before the block is known", async () => {
    const data = { ...vote().data, beaconBlockRoot: new Uint8Array(32).fill(9) };
    const aggregationBits = BitArray.fromBoolArray([true, true, false, false]);
    expect(summarize(await validate({ ...vote(), data, aggregationBits }))).toEqual(["reject not-one-vote"]);
  });

  it("rejects an unknown committee", async () => {
    const change = (data: phase0.AttestationData) => {
      data.index = 2;
    };
    const [outcome] = await validate(vote(0, { change }));
    expect(outcome).toMatchObject({
      ok: false,
      refusal: {
        action: "reject",
        reason: "committee-index-out-of-range",
        message: "The attestation has committee index 2, but slot 2 has only 2 committees.",
      },
    });
  });

  it("rejects the Electra type", async () => {
    const { data, signature } = vote();
    expect(summarize(await validate({ data, signature, committeeIndex: 0, attesterIndex: 0 }))).toEqual([
      "reject wrong-fork",
    ]);
  });
});

describe("single attestations since Electra", () => {
  const vote = (position = 0, options: Partial<Parameters<typeof singleAttestation>[2]> = {}) =>
    singleAttestation(chain, position, { slot: 2, ...options }) as SingleAttestation & { attesterIndex: number };
  beforeEach(() => {
    chain = new TestChain("fulu");
    chain.extend(2);
  });

  it("accepts attestations until the end of the next epoch", async () => {
    const votes = [vote(0), vote(1)];
    chain.clock.set(2 * SLOTS_PER_EPOCH, 499);
    expect(summarize(await validate(votes[0]!))).toEqual(["ok"]);
    chain.clock.set(2 * SLOTS_PER_EPOCH, 501);
    expect(summarize(await validate(votes[1]!))).toEqual(["ignore past-slot"]);
  });

  it("rejects a validator of another committee", async () => {
    const [outcome] = await validate({ ...vote(), attesterIndex: committeeOf(chain, 2, 1)[0]! });
    expect(summarize([outcome!])).toEqual(["reject not-in-committee"]);
  });

  it("rejects an unknown committee", async () => {
    expect(summarize(await validate({ ...vote(), committeeIndex: 2 }))).toEqual([
      "reject committee-index-out-of-range",
    ]);
  });

  it("rejects a non-zero data index", async () => {
    const change = (data: phase0.AttestationData) => {
      data.index = 1;
    };
    expect(summarize(await validate(vote(0, { change })))).toEqual(["reject data-index-not-zero"]);
  });

  it("ignores a block with an invalid payload", async () => {
    const attestation = vote();
    chain.forkChoice.onInvalidPayload(chain.headRoot, null);
    expect(summarize(await validate(attestation))).toEqual(["ignore invalid-block"]);
  });

  it("rejects the pre-Electra type", async () => {
    const { data, signature } = vote();
    expect(summarize(await validate({ data, signature, aggregationBits: BitArray.fromSingleBit(4, 0) }))).toEqual([
      "reject wrong-fork",
    ]);
  });
});
