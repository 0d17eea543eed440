// A blob goes into a transaction with viem, and comes back from the beacon chain.
// npm install --save-dev fanal viem @crate-crypto/node-eth-kzg
import assert from "node:assert/strict";
import { after, test } from "node:test";
import kzgLibrary from "@crate-crypto/node-eth-kzg";
import { startDevChain } from "fanal";
import { createWalletClient, custom, fromBlobs, parseGwei, publicActions, stringToHex, toBlobs } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";

const { client, eth, accounts, stop } = await startDevChain({ validators: 16, evm: true });
after(stop);
const account = privateKeyToAccount(accounts[0].privateKey);
const wallet = createWalletClient({ account, chain: foundry, transport: custom(eth) }).extend(publicActions);

test("the blob of a transaction is on the beacon chain", async () => {
  const text = stringToHex("as long as you like, up to 128 KiB per blob");
  const blobs = toBlobs({ data: text });
  const kzg = kzgLibrary.DasContextJs.create({ usePrecomp: false });
  const maxFeePerBlobGas = parseGwei("30");
  const hash = await wallet.sendTransaction({ to: accounts[1].address, blobs, kzg, maxFeePerBlobGas });

  const { status, blobGasUsed } = await wallet.getTransactionReceipt({ hash });
  assert.deepEqual([status, blobGasUsed], ["success", 131072n]);
  const stored = await client.get_v1_beacon_blobs_blockId({ block_id: "head" });
  assert.equal(fromBlobs({ blobs: stored, to: "hex" }), text);
});
