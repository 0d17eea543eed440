import { DOMAIN_VOLUNTARY_EXIT, ForkName, ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type CachedBeaconStateElectra, computeSigningRoot } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { refusalOf, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import type { Origin } from "./outcome.ts";
import { validateVoluntaryExit } from "./voluntary-exit.ts";

/** Epochs after which validators of the test chain can exit. */
const PERIOD = 4;

describe.each(["phase0", "fulu"] as const)("the rules for voluntary exits of %s", (fork) => {
  let chain: TestChain;
  beforeEach(() => {
    chain = new TestChain(fork);
    chain.extend(PERIOD * SLOTS_PER_EPOCH);
  });
  afterEach(() => chain.close());

  function exitOf(validatorIndex: number, { epoch = 0, signedBy = validatorIndex } = {}): phase0.SignedVoluntaryExit {
    const message = { epoch, validatorIndex };
    // From Deneb on, exits are always signed with Capella's fork version (EIP-7044).
    const signingFork = fork === "phase0" ? ForkName.phase0 : ForkName.capella;
    const domain = chain.config.getDomainAtFork(signingFork, DOMAIN_VOLUNTARY_EXIT);
    return { message, signature: chain.sign(signedBy, computeSigningRoot(ssz.phase0.VoluntaryExit, message, domain)) };
  }
  const validate = (exit: phase0.SignedVoluntaryExit, origin: Origin = "gossip") =>
    validateVoluntaryExit(chain.context, exit, origin);

  it("accepts a valid exit and recognizes it once it is in the pool", async () => {
    const exit = exitOf(3);
    expect(await validate(exit)).toEqual({ verifiedAt: ForkSeq[fork] });
    chain.operations.addVoluntaryExit(exit);
    expect(await refusalOf(validate(exit))).toMatchObject({ action: "ignore", reason: "already-known", known: true });
    expect(await refusalOf(validate(exitOf(3, { epoch: 1 })))).toMatchObject({ known: true });
    await validate(exitOf(4));
  });

  it("reports problems to a client even if another exit is in the pool", async () => {
    chain.operations.addVoluntaryExit(exitOf(3));
    const forged = exitOf(3, { epoch: 1, signedBy: 4 });
    expect(await refusalOf(validate(forged))).toMatchObject({ action: "ignore", known: true });
    expect(await refusalOf(validate(forged, "client"))).toMatchObject({ reason: "bad-signature", known: false });
    await validate(exitOf(3, { epoch: 1 }), "client");
  });

  it("rejects an unknown validator", async () => {
    const exit = exitOf(3);
    exit.message.validatorIndex = 64;
    expect(await refusalOf(validate(exit))).toMatchObject({ action: "reject", reason: "unknown-validator" });
  });

  it("rejects a future epoch", async () => {
    expect(await refusalOf(validate(exitOf(3, { epoch: PERIOD + 1 })))).toMatchObject({
      action: "reject",
      reason: "future-epoch",
      message: "The voluntary exit of validator 3 is for epoch 5; the current epoch is 4.",
    });
  });

  it("rejects an invalid signature", async () => {
    expect(await refusalOf(validate(exitOf(3, { signedBy: 4 })))).toMatchObject({
      action: "reject",
      reason: "bad-signature",
    });
  });

  it("rejects an exiting or inactive validator", async () => {
    const state = chain.headState;
    state.validators.get(3).exitEpoch = PERIOD + 5;
    state.validators.get(4).activationEpoch = PERIOD + 1;
    state.commit();
    expect(await refusalOf(validate(exitOf(3)))).toMatchObject({ action: "reject", reason: "already-exiting" });
    expect(await refusalOf(validate(exitOf(4)))).toMatchObject({ action: "reject", reason: "not-active" });
  });

  it("rejects a validator that is too young, with the remaining epochs", async () => {
    const young = new TestChain(fork);
    young.extend(SLOTS_PER_EPOCH);
    const refusal = await refusalOf(validateVoluntaryExit(young.context, exitOf(3), "gossip"));
    expect(refusal).toMatchObject({ action: "reject", reason: "too-young" });
    expect(refusal.message).toBe(
      "Validator 3 has been active since epoch 0 and can exit after 4 epochs: 3 of them remain in epoch 1.",
    );
    await young.close();
  });

  it("counts empty slots since the head", async () => {
    const idle = new TestChain(fork);
    idle.extend(SLOTS_PER_EPOCH);
    idle.clock.set(PERIOD * SLOTS_PER_EPOCH - 1);
    expect(await refusalOf(validateVoluntaryExit(idle.context, exitOf(3), "gossip"))).toMatchObject({
      reason: "too-young",
    });
    idle.clock.set(PERIOD * SLOTS_PER_EPOCH);
    await validateVoluntaryExit(idle.context, exitOf(3), "gossip");
    await idle.close();
  });

  it("advances a state only for problems that time can solve", async () => {
    const preState = vi.spyOn(chain.context.states, "preState");
    chain.clock.set((PERIOD + 2) * SLOTS_PER_EPOCH);
    await validate(exitOf(3));
    expect(preState).not.toHaveBeenCalled();
  });
});

it("since Electra, rejects a validator with pending partial withdrawals", async () => {
  const chain = new TestChain("fulu");
  chain.extend(PERIOD * SLOTS_PER_EPOCH);
  const state = chain.headState as CachedBeaconStateElectra;
  state.pendingPartialWithdrawals.push(
    ssz.electra.PendingPartialWithdrawal.toViewDU({ validatorIndex: 3, amount: 1n, withdrawableEpoch: 9 }),
  );
  state.commit();
  const exit = { message: { epoch: 0, validatorIndex: 3 }, signature: new Uint8Array(96) };
  expect(await refusalOf(validateVoluntaryExit(chain.context, exit, "gossip"))).toMatchObject({
    action: "reject",
    reason: "pending-withdrawals",
  });
  await chain.close();
});
