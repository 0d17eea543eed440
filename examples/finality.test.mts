// A chain that finalizes, in the process of its test.
// npm install --save-dev fanal
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type DevChain, startDevChain } from "fanal";

let chain: DevChain;
before(async () => {
  // Without contracts, the chain starts sooner without an EVM. Its validators keep their rewards.
  chain = await startDevChain({ validators: 64, evm: false });
});
after(() => chain.stop());

test("the chain finalizes as soon as enough epochs have passed", async () => {
  const { finalized_epoch, head_slot } = await chain.advanceUntil("finalized");
  assert.equal(finalized_epoch, "2");
  assert.equal(head_slot, "32");
  const { finalized } = await chain.client.get_v1_beacon_states_finality_checkpoints({ state_id: "head" });
  assert.equal(finalized.epoch, finalized_epoch);
});

test("validators earn rewards for their votes", async () => {
  const validator = chain.validator(7);
  assert.equal(await validator.status("finalized"), "active_ongoing");
  assert.ok((await validator.balance("finalized")) > 32_000_000_000n);
});
