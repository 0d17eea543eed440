// A contract learns to which address a validator's withdrawals go, by a proof up to the root of a beacon block (EIP-4788).
// npm install --save-dev fanal solc viem @ethereumjs/common @ethereumjs/util @ethereumjs/vm
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startDevChain } from "fanal";
import { openEvm } from "./support/evm.mjs";

const POOL = "0x5be4bdc48cef65dbcbcad5218b1a7d37f58a0741";
const OF_POOL = `0x01${"00".repeat(11)}${POOL.slice(2)}`;
const OF_THIEF = `0x01${"00".repeat(11)}${"66".repeat(20)}`;

const evm = await openEvm();
const { client, stop } = await startDevChain({ validators: 64, withdrawalCredentials: `0x01:${POOL}` });
after(stop);

test("the contract believes the proof, and nothing else", async () => {
  await client.dev_advance({ slots: 2 });
  // The execution block in the beacon block of slot 2 keeps the root of the one of slot 1.
  const { message } = await client.get_v2_beacon_blocks_blockId({ block_id: 2 });
  await evm.keepBeaconRoot(message.parent_root, message.body.execution_payload.timestamp);

  const path = ["validators", 5, "withdrawal_credentials"];
  const { timestamp, branch } = await client.getStateProof({ state_id: 1, path, up_to: "block" });
  assert.equal(await evm.ask("hasCredentials", timestamp, 5, OF_POOL, branch), true);

  assert.equal(await evm.ask("hasCredentials", timestamp, 6, OF_POOL, branch), false);
  assert.equal(await evm.ask("hasCredentials", timestamp, 5, OF_THIEF, branch), false);
  await assert.rejects(evm.ask("hasCredentials", BigInt(timestamp) + 6n, 5, OF_POOL, branch), /revert/);
});
