// A contract stakes: deposit, proof of its credentials (EIP-4788), exit (EIP-7002), and the withdrawal to the contract.
// npm install --save-dev fanal solc viem
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startDevChain } from "fanal";
import { createWalletClient, custom, parseEther, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { compilePod } from "./support/compile.mjs";

/** Index of the first validator after those of genesis. */
const VALIDATOR = 16;
const config = { SHARD_COMMITTEE_PERIOD: 0, MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 1 };
const { client, eth, accounts, stop } = await startDevChain({ validators: VALIDATOR, evm: true, config });
after(stop);
const account = privateKeyToAccount(accounts[0].privateKey);
const wallet = createWalletClient({ account, chain: foundry, transport: custom(eth) }).extend(publicActions);
const { abi, bytecode } = compilePod();

async function mined(hash) {
  const receipt = await wallet.getTransactionReceipt({ hash });
  assert.equal(receipt.status, "success");
  return receipt;
}

test("a contract stakes, proves its validator, exits and is paid out", async () => {
  const { contractAddress: address } = await mined(await wallet.deployContract({ abi, bytecode }));
  const pod = { abi, address };
  const send = async (functionName, args, value) =>
    mined(await wallet.writeContract({ ...pod, functionName, args, value }));

  const credentials = await wallet.readContract({ ...pod, functionName: "credentials" });
  const [{ data }] = await client.dev_deposit({ withdrawal_credentials: credentials, submit: false });
  await send("stake", [data.pubkey, data.signature], parseEther("32"));
  await client.dev_advance({ until: { validator: data.pubkey, status: "active_ongoing" } });

  const { head_slot } = await client.dev_advance({ slots: 1 });
  const path = ["validators", VALIDATOR, "withdrawal_credentials"];
  const { timestamp, branch } = await client.getStateProof({ state_id: head_slot - 1, path, up_to: "block" });
  await assert.rejects(send("verify", [timestamp, VALIDATOR - 1, branch]), /credentials of another contract/);
  await send("verify", [timestamp, VALIDATOR, branch]);
  assert.equal(await wallet.readContract({ ...pod, functionName: "isVerified", args: [VALIDATOR] }), true);

  await send("exit", [data.pubkey], 1n);
  await client.dev_advance({ until: { validator: VALIDATOR, status: "withdrawal_done" } });
  assert.ok((await wallet.getBalance({ address })) >= parseEther("31.9"));
});
