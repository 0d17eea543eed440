import { aggregateSignatures } from "@chainsafe/blst";
import { DOMAIN_BEACON_ATTESTER, ForkSeq } from "@lodestar/params";
import { computeSigningRoot } from "@lodestar/state-transition";
import { type AttesterSlashing, type IndexedAttestationBigint, type phase0, ssz } from "@lodestar/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refusalOf, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { validateAttesterSlashing } from "./attester-slashing.ts";
import type { Origin } from "./outcome.ts";

describe.each(["phase0", "fulu"] as const)("the rules for attester slashings of %s", (fork) => {
  let chain: TestChain;
  beforeEach(() => {
    chain = new TestChain(fork);
    chain.extend(1);
  });
  afterEach(() => chain.close());

  function vote(attestingIndices: number[], blockByte: number, signers = attestingIndices): IndexedAttestationBigint {
    const data: phase0.AttestationDataBigint = {
      slot: 1n,
      index: 0n,
      beaconBlockRoot: new Uint8Array(32).fill(blockByte),
      source: { epoch: 0n, root: new Uint8Array(32) },
      target: { epoch: 0n, root: new Uint8Array(32) },
    };
    const domain = chain.config.getDomain(1, DOMAIN_BEACON_ATTESTER, 0);
    const signingRoot = computeSigningRoot(ssz.phase0.AttestationDataBigint, data, domain);
    const signature = aggregateSignatures(signers.map((index) => chain.key(index).sign(signingRoot))).toBytes();
    return { attestingIndices, data, signature };
  }
  const slashing = (attestation1: IndexedAttestationBigint, attestation2: IndexedAttestationBigint) =>
    ({ attestation1, attestation2 }) as AttesterSlashing;
  const validate = (object: AttesterSlashing, origin: Origin = "gossip") =>
    validateAttesterSlashing(chain.context, object, origin);

  it("accepts a valid slashing and returns the common attesters", async () => {
    expect(await validate(slashing(vote([1, 2, 3], 1), vote([2, 3, 4], 2)))).toEqual({
      verifiedAt: ForkSeq[fork],
      commonIndices: [2, 3],
    });
  });

  it("recognizes a slashing covered by slashings in the pool", async () => {
    chain.operations.addAttesterSlashing(slashing(vote([1, 2], 1), vote([1, 2], 2)), chain.config.getForkName(1));
    expect(await refusalOf(validate(slashing(vote([2], 1), vote([2], 3))))).toMatchObject({
      action: "ignore",
      reason: "already-known",
      known: true,
    });
    expect(await validate(slashing(vote([2, 3], 1), vote([2, 3], 3)))).toMatchObject({ commonIndices: [2, 3] });
  });

  it("reports problems to a client even if the slashing is redundant", async () => {
    chain.operations.addAttesterSlashing(slashing(vote([1, 2], 1), vote([1, 2], 2)), chain.config.getForkName(1));
    const forged = slashing(vote([2], 1), vote([2], 3, [4]));
    expect(await refusalOf(validate(forged))).toMatchObject({ action: "ignore", known: true });
    expect(await refusalOf(validate(forged, "client"))).toMatchObject({ reason: "bad-signature", known: false });
    const needless = slashing(vote([2], 1), vote([2], 3));
    expect(await refusalOf(validate(needless, "client"))).toMatchObject({ action: "ignore", known: true });
    const state = chain.headState;
    state.validators.get(2).slashed = true;
    state.commit();
    expect(await refusalOf(validate(needless, "client"))).toMatchObject({
      reason: "not-slashable",
      message: "All 1 common attesters are already slashed.",
    });
  });

  it("requires the first vote to surround the second, and reports swapped votes", async () => {
    const between = (source: bigint, target: bigint): IndexedAttestationBigint => {
      const signed = vote([1], 1);
      const root = new Uint8Array(32);
      return {
        ...signed,
        data: { ...signed.data, source: { epoch: source, root }, target: { epoch: target, root } },
      };
    };
    const messageOf = async (object: AttesterSlashing) => {
      const refusal = await refusalOf(validate(object));
      expect(refusal).toMatchObject({ action: "reject", reason: "votes-do-not-conflict" });
      return refusal.message;
    };
    expect(await messageOf(slashing(between(1n, 2n), between(0n, 3n)))).toBe(
      "The second attestation surrounds the first, but the first must surround the second. Swap them.",
    );
    expect(await messageOf(slashing(between(0n, 1n), between(0n, 3n)))).toContain("neither a double vote nor");
  });

  it.each<[why: string, reason: string, make: () => AttesterSlashing]>([
    ["the same vote twice", "votes-do-not-conflict", () => slashing(vote([1], 1), vote([1], 1))],
    ["indices not sorted", "invalid-indices", () => slashing(vote([2, 1], 1), vote([1, 2], 2))],
    ["an index twice", "invalid-indices", () => slashing(vote([1, 1], 1), vote([1], 2))],
    ["no such validator", "invalid-indices", () => slashing(vote([1, 64], 1, [1]), vote([1, 64], 2, [1]))],
    ["first signature bad", "bad-signature", () => slashing(vote([1, 2], 1, [1]), vote([1, 2], 2))],
    ["second signature bad", "bad-signature", () => slashing(vote([1, 2], 1), vote([1, 2], 2, [3]))],
  ])("%s: %s", async (_, reason, make) => {
    expect(await refusalOf(validate(make()))).toMatchObject({ action: "reject", reason, known: false });
  });

  it("ignores attestations without any attester, which a client may not submit", async () => {
    const empty = slashing(vote([1], 1), { ...vote([1], 2), attestingIndices: [] });
    expect(await refusalOf(validate(empty))).toMatchObject({ action: "ignore", reason: "no-common-index" });
    expect(await refusalOf(validate(empty, "client"))).toMatchObject({ action: "reject", reason: "invalid-indices" });
  });

  it("ignores attestations of different validators without marking them as known", async () => {
    expect(await refusalOf(validate(slashing(vote([1], 1), vote([2], 2))))).toMatchObject({
      action: "ignore",
      reason: "no-common-index",
      known: false,
    });
  });

  it("requires at least one slashable attester", async () => {
    const state = chain.headState;
    state.validators.get(1).slashed = true;
    state.commit();
    expect(await refusalOf(validate(slashing(vote([1], 1), vote([1], 2))))).toMatchObject({
      action: "reject",
      reason: "not-slashable",
    });
    await validate(slashing(vote([1, 2], 1), vote([1, 2], 2)));
  });
});
