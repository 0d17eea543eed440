import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateGloas } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import type { DutyPlan } from "../../../src/dev/validators/duty-plan.ts";
import { Caller } from "../../support/api/caller.ts";
import { openDevChain } from "../../support/chain/dev-chain.ts";
import { GloasChain } from "../../support/chain/gloas-chain.ts";
import { SignedOperations } from "../../support/chain/signed-operations.ts";

const EXPECTED = "get_v1_builder_states_stateId_expected_withdrawals";
const INVALID = -32602;

it("returns the withdrawals of the next block for each state, from capella on", async () => {
  const { devChain } = await openDevChain({ validators: 8, forks: [{ fork: "capella", epoch: 1 }] });
  const caller = new Caller(devChain.api);
  expect(await caller.error(EXPECTED, ["genesis"])).toMatchObject({
    code: INVALID,
    message: expect.stringMatching(/capella, which begins at epoch 1: slot 1 is of bellatrix/),
  });
  expect(await caller.error(EXPECTED, ["genesis", 0])).toMatchObject({ code: INVALID });
  expect(await caller.call(EXPECTED, ["genesis", SLOTS_PER_EPOCH])).toEqual([]);
  expect(await caller.error(EXPECTED, ["genesis", 2 * SLOTS_PER_EPOCH + 1])).toMatchObject({ code: INVALID });

  await devChain.clock.advanceTo(SLOTS_PER_EPOCH);
  const change = new SignedOperations(devChain).credentialsChange(3, new Uint8Array(20).fill(7));
  await caller.call("post_v1_beacon_pool_bls_to_execution_changes", [
    [ssz.capella.SignedBLSToExecutionChange.toJson(change)],
  ]);
  await devChain.clock.advanceTo(3 * SLOTS_PER_EPOCH);

  const withdrawals: unknown[] = [];
  for (let slot = SLOTS_PER_EPOCH; slot <= 3 * SLOTS_PER_EPOCH; slot++) {
    const { message } = await caller.call("get_v2_beacon_blocks_blockId", [slot]);
    const expected = await caller.call(EXPECTED, [slot - 1]);
    expect(expected).toEqual(message.body.execution_payload.withdrawals);
    expect(await caller.call(EXPECTED, [slot - 1, slot])).toEqual(expected);
    withdrawals.push(...expected);
  }
  expect(withdrawals).not.toEqual([]);
});

it("returns the withdrawals of the next payload since gloas, with the effects of the payload before", async () => {
  const gloas = await GloasChain.open({
    validators: 8,
    forks: [{ fork: "gloas", epoch: 1 }],
    withdrawals: [{ value: { prefix: "0x01" } }],
  });
  const caller = new Caller(gloas.opened.devChain.api);
  const { chain } = gloas;
  await gloas.run(SLOTS_PER_EPOCH + 2);
  // A withheld payload: the next one has its withdrawals again.
  await gloas.run(1, { payload: "withhold" });
  const plans: DutyPlan[] = [{}, { payload: "withhold" }, {}, {}];
  for (const plan of plans) {
    const expected = await caller.call(EXPECTED, ["head"]);
    await gloas.run(1, plan);
    const { payloadExpectedWithdrawals } = chain.headState as CachedBeaconStateGloas;
    expect(ssz.capella.Withdrawals.toJson(payloadExpectedWithdrawals.toValue())).toEqual(expected);
  }
  let count = 0;
  for (let slot = SLOTS_PER_EPOCH; slot <= chain.head.slot; slot++) {
    const { root } = (await chain.blocks.canonicalAtSlot(slot))!;
    const { payloadExpectedWithdrawals } = (await chain.states.afterBlock(root)) as CachedBeaconStateGloas;
    const ofPayload = ssz.capella.Withdrawals.toJson(payloadExpectedWithdrawals.toValue());
    expect(await caller.call(EXPECTED, [slot - 1]), `slot ${slot}`).toEqual(ofPayload);
    const envelope = await chain.payloadStore.get(root);
    if (envelope) expect(ssz.capella.Withdrawals.toJson(envelope.message.payload.withdrawals)).toEqual(ofPayload);
    count += payloadExpectedWithdrawals.length;
  }
  expect(count).toBeGreaterThan(0);
});
