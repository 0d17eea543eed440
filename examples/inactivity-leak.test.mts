// Half of the validators go offline: finality stalls, and offline validators lose balance until they are back.
// npm install --save-dev fanal
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startDevChain } from "fanal";

const ONLINE = 3;
const OFFLINE = 40;
const chain = await startDevChain({ validators: 64 });
after(() => chain.stop());

async function inactivityScore(index: number) {
  const { value } = await chain.prove.state(["inactivity_scores", index]);
  return Number(value);
}

test("half of the votes finalize nothing, and offline validators lose balance", async () => {
  const { finalized_epoch } = await chain.advanceUntil("finalized");
  await chain.validators.setOffline("32-63");
  const balance = await chain.validator(OFFLINE).balance();
  const stalled = await chain.advance({ epochs: 12 });
  assert.equal(stalled.finalized_epoch, finalized_epoch);
  assert.ok((await chain.validator(OFFLINE).balance()) < balance);
  assert.ok((await inactivityScore(OFFLINE)) > 0);
  assert.equal(await inactivityScore(ONLINE), 0);
});

test("all votes finalize again, and the leak ends", async () => {
  await chain.validators.setOnline("all");
  const { epoch, finalized_epoch } = await chain.advanceUntil("finalized");
  assert.equal(Number(finalized_epoch), Number(epoch) - 2);
  const balance = await chain.validator(OFFLINE).balance();
  await chain.advance({ epochs: 2 });
  assert.ok((await chain.validator(OFFLINE).balance()) > balance);
  assert.equal(await inactivityScore(OFFLINE), 0);
});
