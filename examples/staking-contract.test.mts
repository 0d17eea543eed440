// A contract stakes: deposit, proof of its credentials (EIP-4788), exit (EIP-7002), and the withdrawal to the contract.
// npm install --save-dev fanal solc viem
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startDevChain } from "fanal";
import { createWalletClient, custom, type Hash, parseAbi, parseEther, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { compile } from "./support/compile.mts";

const config = { SHARD_COMMITTEE_PERIOD: 0, MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 1 };
const chain = await startDevChain({ validators: 16, config });
after(() => chain.stop());
const account = privateKeyToAccount(chain.accounts[0]!.privateKey);
// viem retries errors three times, which would delay the expected revert.
const transport = custom(chain.eth, { retryCount: 0 });
const wallet = createWalletClient({ account, chain: foundry, transport }).extend(publicActions);
const abi = parseAbi([
  "function credentials() view returns (bytes32)",
  "function isVerified(uint40 validator) view returns (bool)",
  "function stake(bytes pubkey, bytes signature, bytes32 root) payable",
  "function verify(uint64 timestamp, uint40 validator, bytes32[] branch)",
  "function exit(bytes pubkey) payable",
]);

async function mined(sent: Promise<Hash>) {
  const receipt = await wallet.getTransactionReceipt({ hash: await sent });
  assert.equal(receipt.status, "success");
  return receipt;
}

test("a contract stakes, proves its validator, exits and receives the balance", async () => {
  const { contractAddress: address } = await mined(wallet.deployContract(compile("Pod.sol", "Pod")));
  assert.ok(address);
  const pod = { abi, address } as const;

  const credentials = await wallet.readContract({ ...pod, functionName: "credentials" });
  const [deposit] = await chain.validators.deposit({ credentials, submit: false });
  const { pubkey, signature } = deposit!.data;
  const args = [pubkey, signature, deposit!.deposit_data_root] as const;
  await mined(wallet.writeContract({ ...pod, functionName: "stake", args, value: parseEther("32") }));
  await chain.advanceUntil({ validator: pubkey, status: "active_ongoing" });

  const validator = Number((await chain.validator(pubkey).get()).index);
  // EIP-4788 has the root of a block from the next block on. The slots in between may be empty.
  const { head_slot } = await chain.head();
  await chain.advanceUntil("block");
  const block = { state: head_slot, upTo: "block" } as const;
  const { timestamp, branch } = await chain.prove.validator(pubkey, "withdrawal_credentials", block);
  const verify = (index: number) =>
    mined(wallet.writeContract({ ...pod, functionName: "verify", args: [BigInt(timestamp!), index, branch] }));
  await assert.rejects(verify(validator - 1), /credentials of another contract/);
  await verify(validator);
  assert.equal(await wallet.readContract({ ...pod, functionName: "isVerified", args: [validator] }), true);

  await mined(wallet.writeContract({ ...pod, functionName: "exit", args: [pubkey], value: 1n }));
  await chain.advanceUntil({ validator, status: "withdrawal_done" });
  assert.ok((await wallet.getBalance({ address })) >= parseEther("31.9"));
});
