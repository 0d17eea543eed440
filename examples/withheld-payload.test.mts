// A withheld payload delays a stake: what a contract paid, and what the beacon chain credited for it.
// npm install --save-dev fanal solc viem
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startDevChain } from "fanal";
import { createWalletClient, custom, type Hash, parseAbi, parseEther, parseGwei, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { compile } from "./support/compile.mts";

const DEPOSIT_CONTRACT = "0x4242424242424242424242424242424242424242";
const STAKE = parseEther("32");
const chain = await startDevChain({ fork: "gloas", validators: 16 });
after(() => chain.stop());
const account = privateKeyToAccount(chain.accounts[0]!.privateKey);
const transport = custom(chain.eth, { retryCount: 0 });
const wallet = createWalletClient({ account, chain: foundry, transport }).extend(publicActions);
const abi = parseAbi([
  "function credentials() view returns (bytes32)",
  "function stake(bytes pubkey, bytes signature, bytes32 root) payable",
]);
const deployment = await wallet.deployContract(compile("Pod.sol", "Pod"));
const { contractAddress: address } = await wallet.getTransactionReceipt({ hash: deployment });
const pod = { abi, address: address! } as const;
const credentials = await wallet.readContract({ ...pod, functionName: "credentials" });

/** Ether that the contract paid as of the latest payload, and as of the last one that the head's state contains. */
async function books() {
  const state = await chain.state();
  const paid = async (block: "latest" | { blockHash: Hash }) =>
    BigInt(await chain.client.eth_getBalance({ address: DEPOSIT_CONTRACT, block }));
  const deposits = state.pending_deposits.filter((each) => each.withdrawal_credentials === credentials);
  const credited = deposits.reduce((sum, { amount }) => sum + parseGwei(amount), 0n);
  return { latest: await paid("latest"), contained: await paid({ blockHash: state.latest_block_hash }), credited };
}

test("the stake of a withheld payload did not happen, until a later payload has it", async () => {
  const [deposit] = await chain.validators.deposit({ credentials, submit: false });
  const { pubkey, signature } = deposit!.data;
  const args = [pubkey, signature, deposit!.deposit_data_root] as const;
  await chain.payload.withhold();
  const hash = await wallet.writeContract({ ...pod, functionName: "stake", args, value: STAKE });
  assert.equal((await chain.payload.get()).payload_status, "empty");
  await assert.rejects(wallet.getTransactionReceipt({ hash }), /could not be found/);
  assert.deepEqual(await books(), { latest: 0n, contained: 0n, credited: 0n });

  await chain.advanceUntil("payload");
  assert.equal((await wallet.getTransactionReceipt({ hash })).status, "success");
  // A report of the head's state and the latest payload misses the stake. One as of latest_block_hash is consistent.
  assert.deepEqual(await books(), { latest: STAKE, contained: 0n, credited: 0n });
  await chain.advanceUntil("block");
  assert.deepEqual(await books(), { latest: STAKE, contained: STAKE, credited: STAKE });
  await chain.advanceUntil({ validator: pubkey, status: "active_ongoing" });
});
