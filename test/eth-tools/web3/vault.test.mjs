// Tests of a contract with web3.js, as a project that knows nothing of Fanal has them. ETH_RPC_URL names the node.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { Web3, WebSocketProvider } from "web3";

const { abi, bytecode } = JSON.parse(readFileSync(new URL("Vault.json", import.meta.url), "utf8"));
const url = process.env.ETH_RPC_URL;
const MINIMUM = 1000n;

describe("Vault", () => {
  const web3 = new Web3(url);
  let owner;
  let user;
  let vault;

  before(async () => {
    [owner, user] = await web3.eth.getAccounts();
    const contract = new web3.eth.Contract(abi);
    vault = await contract.deploy({ data: bytecode, arguments: [MINIMUM] }).send({ from: owner });
  });

  it("connects to a chain with funded accounts", async () => {
    assert.equal(await web3.eth.getChainId(), 31_337n);
    assert.equal(await web3.eth.net.isListening(), true);
    assert.equal(await web3.eth.isSyncing(), false);
    assert.ok((await web3.eth.getBalance(user)) > 10n ** 20n);
    assert.ok((await web3.eth.getBlockNumber()) > 0n);
  });

  it("is deployed", async () => {
    assert.match(await web3.eth.getCode(vault.options.address), /^0x60/);
    assert.equal(await vault.methods.minimum().call(), MINIMUM);
    assert.equal(await vault.methods.owner().call(), web3.utils.toChecksumAddress(owner));
  });

  it("takes deposits and emits events", async () => {
    const receipt = await vault.methods.deposit().send({ from: user, value: "5000" });
    assert.equal(receipt.status, 1n);
    assert.equal(receipt.events.Deposited.returnValues.amount, 5000n);
    assert.equal(await vault.methods.balanceOf(user).call(), 5000n);
    assert.equal(await web3.eth.getBalance(vault.options.address), 5000n);
    const events = await vault.getPastEvents("Deposited", { fromBlock: 0, filter: { from: user } });
    assert.deepEqual(
      events.map(({ transactionHash }) => transactionHash),
      [receipt.transactionHash],
    );
    const block = await web3.eth.getBlock(receipt.blockNumber, true);
    assert.equal(block.transactions[0].hash, receipt.transactionHash);
    assert.ok((await web3.eth.estimateGas({ from: user, to: owner, value: 1 })) === 21_000n);
  });

  it("decodes reverts: a reason and a custom error", async () => {
    await assert.rejects(vault.methods.deposit().call({ from: user, value: "1" }), (error) => {
      assert.match(`${error.message} ${error.cause?.message}`, /below minimum/);
      return true;
    });
    await assert.rejects(vault.methods.withdraw(10_000).call({ from: user }), (error) => {
      const { errorName, errorArgs } = error.cause ?? error.innerError;
      assert.equal(errorName, "Insufficient");
      assert.equal(errorArgs.requested, 10_000n);
      return true;
    });
    await assert.rejects(vault.methods.lock(1).send({ from: user }), { name: "ContractExecutionError" });
  });

  it("sends transactions that it signs itself", async () => {
    const account = web3.eth.accounts.create();
    await web3.eth.sendTransaction({ from: owner, to: account.address, value: web3.utils.toWei(1, "ether") });
    web3.eth.accounts.wallet.add(account);
    const receipt = await vault.methods.deposit().send({ from: account.address, value: "2000" });
    assert.equal(receipt.from, account.address.toLowerCase());
    assert.equal(await web3.eth.getTransactionCount(account.address), 1n);
    assert.equal((await web3.eth.getTransaction(receipt.transactionHash)).type, 2n);
  });

  it("signs messages and typed data with accounts of the node", async () => {
    const signature = await web3.eth.sign(web3.utils.utf8ToHex("hello"), owner);
    assert.equal(web3.eth.accounts.recover("hello", signature), web3.utils.toChecksumAddress(owner));
    const typed = {
      types: { EIP712Domain: [{ name: "name", type: "string" }], Note: [{ name: "text", type: "string" }] },
      primaryType: "Note",
      domain: { name: "Vault" },
      message: { text: "hello" },
    };
    assert.match(await web3.eth.signTypedData(owner, typed, false), /^0x[0-9a-f]{130}$/);
  });

  it("estimates fees", async () => {
    const { baseFeePerGas, maxFeePerGas } = await web3.eth.calculateFeeData();
    assert.ok(maxFeePerGas > baseFeePerGas);
    const { reward } = await web3.eth.getFeeHistory(2, "latest", [50]);
    assert.equal(reward.length, 2);
    assert.ok((await web3.eth.getGasPrice()) > 0n);
  });
});

describe("WebSocket", () => {
  const provider = new WebSocketProvider(url.replace("http", "ws"));
  const web3 = new Web3(provider);
  after(() => provider.disconnect());

  it("delivers blocks and the events of a contract", async () => {
    const [owner] = await web3.eth.getAccounts();
    const contract = new web3.eth.Contract(abi);
    const vault = await contract.deploy({ data: bytecode, arguments: [1] }).send({ from: owner });

    const deposited = Promise.withResolvers();
    const events = vault.events.Deposited({ filter: { from: owner } });
    events.on("data", deposited.resolve);
    events.on("error", deposited.reject);
    await new Promise((resolve) => events.on("connected", resolve));
    const mined = Promise.withResolvers();
    const heads = await web3.eth.subscribe("newBlockHeaders");
    heads.on("data", mined.resolve);

    const { transactionHash, blockNumber } = await vault.methods.deposit().send({ from: owner, value: "7" });
    const event = await deposited.promise;
    assert.equal(event.transactionHash, transactionHash);
    assert.equal(event.returnValues.amount, 7n);
    assert.equal((await mined.promise).number, blockNumber);
    await heads.unsubscribe();
    await events.unsubscribe();
  });
});
