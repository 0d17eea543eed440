// A blob is sent in a transaction with viem, and read back from the beacon chain.
// npm install --save-dev fanal viem @crate-crypto/node-eth-kzg
import assert from "node:assert/strict";
import { after, test } from "node:test";
import kzgLibrary from "@crate-crypto/node-eth-kzg";
import { startDevChain } from "fanal";
import { createWalletClient, custom, fromBlobs, parseGwei, publicActions, stringToHex, toBlobs } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";

const chain = await startDevChain({ validators: 16 });
after(() => chain.stop());
const [sender, recipient] = chain.accounts;
assert.ok(sender && recipient);
const account = privateKeyToAccount(sender.privateKey);
const transport = custom(chain.eth, { retryCount: 0 });
const wallet = createWalletClient({ account, chain: foundry, transport }).extend(publicActions);

test("the blob of a transaction is on the beacon chain", async () => {
  const text = stringToHex("as long as you like, up to 128 KiB per blob");
  const blobs = toBlobs({ data: text });
  const kzg = kzgLibrary.DasContextJs.create({ usePrecomp: false });
  const maxFeePerBlobGas = parseGwei("30");
  const hash = await wallet.sendTransaction({ to: recipient.address, blobs, kzg, maxFeePerBlobGas });

  const { status, blobGasUsed } = await wallet.getTransactionReceipt({ hash });
  assert.deepEqual([status, blobGasUsed], ["success", 131072n]);
  const stored = await chain.client.get_v1_beacon_blobs_blockId({ block_id: "head" });
  assert.equal(fromBlobs({ blobs: stored, to: "hex" }), text);
});
