// One chain for all tests of a file with node:test, reverted after each test.
// npm install --save-dev fanal
import assert from "node:assert/strict";
import { chainTest } from "fanal/node-test";

// Tests with the same options share a chain. The function prepares it once, before the first test.
const test = chainTest({ validators: 64, evm: false }, (chain) => chain.advanceUntil("justified"));

test("a reorg replaces the head", async ({ chain }) => {
  const { old_head, new_head } = await chain.reorg(2);
  assert.notEqual(new_head.root, old_head.root);
  const { head_block_root } = await chain.head();
  assert.equal(head_block_root, new_head.root);
});

test("the next test starts from the same state", async ({ chain }) => {
  assert.equal((await chain.head()).head_slot, "24");
});

// Other options: a chain of its own.
const compoundingTest = chainTest({ validators: 16, withdrawalCredentials: "0x02", balances: 64, evm: false });

compoundingTest("compounding validators have a higher effective balance", async ({ chain }) => {
  const { validator } = await chain.validator(0).get();
  assert.equal(validator.effective_balance, "64000000000");
});
