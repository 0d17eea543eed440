// Events that the oracle of a staking pool must detect: a slashing, and an exit until the balance is withdrawn.
// npm install --save-dev fanal
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startDevChain, type Withdrawal } from "fanal";

const POOL = "0x5be4bdc48cef65dbcbcad5218b1a7d37f58a0741";
const CREDENTIALS = `0x01${"00".repeat(11)}${POOL.slice(2)}`;
const FAR_FUTURE_EPOCH = String(2n ** 64n - 1n);
const config = { SHARD_COMMITTEE_PERIOD: 0, MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 1 };
const chain = await startDevChain({ withdrawalCredentials: `0-7=0x01:${POOL}`, config });
after(() => chain.stop());

async function poolValidators() {
  const all = await chain.validators.list();
  return all.filter(({ validator }) => validator.withdrawal_credentials === CREDENTIALS);
}

test("a slashed validator is detected, and has to exit", async () => {
  await chain.validator(3).slash();
  await chain.advance();
  const slashed = (await poolValidators()).filter(({ status }) => status === "active_slashed");
  assert.deepEqual(
    slashed.map(({ index }) => index),
    ["3"],
  );
  // Its balance is no proof: if it proposes the block, the reward for the slashing equals the penalty.
  assert.notEqual(slashed[0]!.validator.exit_epoch, FAR_FUTURE_EPOCH);
});

test("an exit ends with a withdrawal of the whole balance", async () => {
  await chain.validator(5).exit();
  const { slot: first } = await chain.advanceUntil({ validator: 5, status: "withdrawal_possible" });
  const { slot: last } = await chain.advanceUntil({ validator: 5, status: "withdrawal_done" });
  // A member of the sync committee still earns a little.
  assert.ok((await chain.validator(5).balance()) < 1_000_000n);
  const withdrawals: Withdrawal[] = [];
  for (let slot = Number(first); slot <= Number(last); slot++) {
    const { message } = await chain.block(slot);
    withdrawals.push(...message.body.execution_payload.withdrawals);
  }
  const withdrawal = withdrawals.find(({ validator_index }) => validator_index === "5");
  assert.equal(withdrawal?.address, POOL);
  assert.ok(BigInt(withdrawal.amount) >= 32_000_000_000n);
});
