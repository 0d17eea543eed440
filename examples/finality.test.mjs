// A chain that finalizes, in the process of its test.
// npm install --save-dev fanal
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startDevChain } from "fanal";

let chain;
before(async () => {
  chain = await startDevChain({ validators: 64 });
});
after(() => chain.stop());

test("the chain finalizes as soon as enough epochs have passed", async () => {
  const { finalized_epoch, head_slot } = await chain.client.dev_advance({ until: "finalized" });
  assert.equal(finalized_epoch, "2");
  assert.equal(head_slot, "32");
  const { finalized } = await chain.client.get_v1_beacon_states_finality_checkpoints({ state_id: "head" });
  assert.equal(finalized.epoch, finalized_epoch);
});

test("its validators have voted, and earned something by it", async () => {
  const { status, balance } = await chain.client.get_v1_beacon_states_stateId_validators_validatorId({
    state_id: "finalized",
    validator_id: 7,
  });
  assert.equal(status, "active_ongoing");
  assert.ok(BigInt(balance) > 32_000_000_000n);
});
