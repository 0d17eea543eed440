import { DOMAIN_BEACON_PROPOSER, ForkSeq } from "@lodestar/params";
import { computeSigningRoot } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refusalOf, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import type { Origin } from "./outcome.ts";
import { validateProposerSlashing } from "./proposer-slashing.ts";

type HeaderFields = Partial<phase0.BeaconBlockHeaderBigint> & { signedBy?: number };

describe.each(["phase0", "fulu"] as const)("the rules for proposer slashings of %s", (fork) => {
  let chain: TestChain;
  beforeEach(() => {
    chain = new TestChain(fork);
    chain.extend(1);
  });
  afterEach(() => chain.close());

  function header({ signedBy = 5, ...fields }: HeaderFields): phase0.SignedBeaconBlockHeaderBigint {
    const message = {
      slot: 1n,
      proposerIndex: 5,
      parentRoot: new Uint8Array(32),
      stateRoot: new Uint8Array(32),
      bodyRoot: new Uint8Array(32),
      ...fields,
    };
    const domain = chain.config.getDomain(1, DOMAIN_BEACON_PROPOSER, Number(message.slot));
    const signingRoot = computeSigningRoot(ssz.phase0.BeaconBlockHeaderBigint, message, domain);
    return { message, signature: chain.sign(signedBy, signingRoot) };
  }
  const slashing = (first: HeaderFields = {}, second: HeaderFields = {}): phase0.ProposerSlashing => ({
    signedHeader1: header(first),
    signedHeader2: header({ bodyRoot: new Uint8Array(32).fill(1), ...second }),
  });
  const validate = (object: phase0.ProposerSlashing, origin: Origin = "gossip") =>
    validateProposerSlashing(chain.context, object, origin);

  it("accepts a valid slashing and recognizes it once it is in the pool", async () => {
    expect(await validate(slashing())).toEqual({ verifiedAt: ForkSeq[fork] });
    chain.operations.addProposerSlashing(slashing());
    expect(await refusalOf(validate(slashing()))).toMatchObject({
      action: "ignore",
      reason: "already-known",
      known: true,
    });
  });

  it("reports problems to a client even if another slashing is in the pool", async () => {
    chain.operations.addProposerSlashing(slashing());
    const forged = slashing({ stateRoot: new Uint8Array(32).fill(2), signedBy: 6 });
    expect(await refusalOf(validate(forged))).toMatchObject({ action: "ignore", known: true });
    expect(await refusalOf(validate(forged, "client"))).toMatchObject({ reason: "bad-signature", known: false });
    await validate(slashing({ stateRoot: new Uint8Array(32).fill(2) }), "client");
  });

  it.each<[why: string, reason: string, first: HeaderFields, second: HeaderFields]>([
    ["different slots", "headers-do-not-conflict", {}, { slot: 2n }],
    ["different proposers", "headers-do-not-conflict", {}, { proposerIndex: 6, signedBy: 6 }],
    ["equal headers", "headers-do-not-conflict", {}, { bodyRoot: new Uint8Array(32) }],
    ["no such validator", "unknown-validator", { proposerIndex: 64 }, { proposerIndex: 64 }],
    ["first signature bad", "bad-signature", { signedBy: 6 }, {}],
    ["second signature bad", "bad-signature", {}, { signedBy: 6 }],
  ])("%s: %s", async (_, reason, first, second) => {
    expect(await refusalOf(validate(slashing(first, second)))).toMatchObject({
      action: "reject",
      reason,
      known: false,
    });
  });

  it("rejects an already slashed proposer", async () => {
    const state = chain.headState;
    state.validators.get(5).slashed = true;
    state.commit();
    const refusal = { action: "reject", reason: "not-slashable", message: "Validator 5 is already slashed." };
    expect(await refusalOf(validate(slashing()))).toMatchObject(refusal);
    chain.operations.addProposerSlashing(slashing());
    expect(await refusalOf(validate(slashing()))).toMatchObject({ action: "ignore", known: true });
    expect(await refusalOf(validate(slashing(), "client"))).toMatchObject(refusal);
  });
});
