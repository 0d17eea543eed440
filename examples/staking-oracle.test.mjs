// What the oracle of a staking pool has to notice: a slashing, and an exit until the balance is paid out.
// npm install --save-dev fanal
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startDevChain } from "fanal";

const POOL = "0x5be4bdc48cef65dbcbcad5218b1a7d37f58a0741";
const config = { SHARD_COMMITTEE_PERIOD: 0, MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 1 };
const { client, stop } = await startDevChain({ withdrawalCredentials: `0-7=0x01:${POOL}`, config });
after(stop);

async function poolValidators() {
  const all = await client.get_v1_beacon_states_stateId_validators({ state_id: "head" });
  return all.filter(({ validator }) => validator.withdrawal_credentials === `0x01${"00".repeat(11)}${POOL.slice(2)}`);
}

test("a slashed validator is seen, with less balance", async () => {
  await client.dev_slash({ validators: 3 });
  await client.dev_advance({ slots: 1 });
  const [slashed, ...others] = (await poolValidators()).filter(({ status }) => status === "active_slashed");
  assert.equal(slashed.index, "3");
  assert.ok(BigInt(slashed.balance) < 32_000_000_000n);
  assert.deepEqual(others, []);
});

test("an exit ends with the whole balance among the withdrawals of a payload", async () => {
  await client.dev_exit({ validator: 5 });
  const { slot: first } = await client.dev_advance({ until: { validator: 5, status: "withdrawal_possible" } });
  const { slot: last } = await client.dev_advance({ until: { validator: 5, status: "withdrawal_done" } });
  assert.equal((await poolValidators())[5].balance, "0");
  const withdrawals = [];
  for (let slot = Number(first); slot <= last; slot++) {
    const { message } = await client.get_v2_beacon_blocks_blockId({ block_id: slot });
    withdrawals.push(...message.body.execution_payload.withdrawals);
  }
  const { address, amount } = withdrawals.find(({ validator_index }) => validator_index === "5");
  assert.ok(address === POOL && BigInt(amount) >= 32_000_000_000n);
});
