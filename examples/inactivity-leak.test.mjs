// Half of the validators go offline: nothing is finalized any more and the absent lose balance, until they are back.
// npm install --save-dev fanal
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startDevChain } from "fanal";

const PRESENT = 3;
const ABSENT = 40;
const { client, stop } = await startDevChain({ validators: 64 });
after(stop);

async function look(id) {
  const [{ balance }] = await client.get_v1_beacon_states_stateId_validator_balances({ state_id: "head", id: [id] });
  const { value } = await client.getStateProof({ state_id: "head", path: ["inactivity_scores", id] });
  return { balance: BigInt(balance), inactivityScore: Number(value) };
}

test("half of the votes finalize nothing, and the absent pay for it", async () => {
  const { finalized_epoch } = await client.dev_advance({ until: "finalized" });
  await client.dev_setValidators({ offline: "32-63" });
  const { balance } = await look(ABSENT);
  const stalled = await client.dev_advance({ epochs: 12 });
  assert.equal(stalled.finalized_epoch, finalized_epoch);
  const absent = await look(ABSENT);
  assert.ok(absent.balance < balance && absent.inactivityScore > 0);
  assert.equal((await look(PRESENT)).inactivityScore, 0);
});

test("all votes finalize again, and the leak ends", async () => {
  await client.dev_setValidators({ online: "all" });
  const { epoch, finalized_epoch } = await client.dev_advance({ until: "finalized" });
  assert.equal(Number(finalized_epoch), epoch - 2);
  const { balance } = await look(ABSENT);
  await client.dev_advance({ epochs: 2 });
  const returned = await look(ABSENT);
  assert.ok(returned.balance > balance && returned.inactivityScore === 0);
});
