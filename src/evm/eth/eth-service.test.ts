import { Address } from "@ethereumjs/util";
import { getCreateAddress, HDNodeWallet, Mnemonic, Transaction, verifyMessage, verifyTypedData } from "ethers";
import { describe, expect, it, vi } from "vitest";
import { openEth } from "../../../test/support/evm/eth/eth.ts";
import { addressOf, bytesOf, GENESIS_TIME, GWEI, hexOf, optionsOf } from "../../../test/support/evm/evm.ts";
import { TEST_MNEMONIC } from "../accounts.ts";
import { toHex } from "../execution/payload.ts";
import { WITHDRAWAL_REQUESTS_ADDRESS } from "../execution/system-contracts.ts";
import { EthError } from "./eth-error.ts";
import { LocalEthService } from "./local-eth-service.ts";

const wallet = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(TEST_MNEMONIC), "m/44'/60'/0'/0/0");
const SENDER = bytesOf(wallet.address);
/** Stores 7 in slot 0, emits a log with topic 1, and deploys a single STOP. */
const LOGGING = bytesOf("6007600055600160006000a1600160006000396001 6000f3".replace(" ", ""));
type Json = Record<string, unknown>;

describe("blocks and transactions", () => {
  it("returns a transaction, its receipt and its block in agreement with each other and with ethers", async () => {
    const { chain, service, mine } = await openEth();
    const raw = chain.signRaw(0, { data: LOGGING, accessList: [[addressOf(1), [new Uint8Array(32)]]] });
    const hash = (await service.call("sendRawTransaction", { raw })) as string;
    const pending = (await service.call("getTransaction", { hash })) as Json;
    expect(pending).toMatchObject({
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
      gasPrice: "0x4a817c800",
    });
    const block = await mine();

    const known = Transaction.from(toHex(raw));
    const transaction = (await service.call("getTransaction", { hash })) as Json;
    expect(transaction).toEqual({
      ...pending,
      hash: known.hash,
      from: known.from!.toLowerCase(),
      r: `0x${BigInt(known.signature!.r).toString(16)}`,
      s: `0x${BigInt(known.signature!.s).toString(16)}`,
      yParity: `0x${known.signature!.yParity}`,
      accessList: [{ address: toHex(addressOf(1)), storageKeys: [`0x${"00".repeat(32)}`] }],
      gasPrice: `0x${(block.header.baseFeePerGas + 2n * GWEI).toString(16)}`,
      blockHash: toHex(block.hash),
      blockNumber: "0x1",
      blockTimestamp: `0x${block.header.timestamp.toString(16)}`,
      transactionIndex: "0x0",
    });
    const receipt = (await service.call("getReceipt", { hash })) as Json;
    expect(receipt).toMatchObject({ status: "0x1", from: transaction.from, to: null, transactionHash: hash });
    expect(receipt.logs).toMatchObject([{ logIndex: "0x0", topics: [`0x${"01".padStart(64, "0")}`], removed: false }]);
    const contract = bytesOf(receipt.contractAddress as string);
    expect(await service.call("getStorageAt", { address: contract, slot: new Uint8Array(32) })).toBe(
      `0x${"07".padStart(64, "0")}`,
    );
    const full = (await service.call("getBlock", { block: { tag: "latest" }, full: true })) as Json;
    expect(full.transactions).toEqual([transaction]);
    expect(await service.call("getBlock", { block: { hash: toHex(block.hash) } })).toEqual({
      ...full,
      transactions: [hash],
    });
    expect(await service.call("getBlockReceipts", { block: { number: 1n } })).toEqual([receipt]);
    expect(await service.call("getTransactionOfBlock", { block: { number: 1n }, index: 0n })).toEqual(transaction);
    expect(await service.call("getTransactionOfBlock", { block: { number: 1n }, index: 1n })).toBeNull();
    expect(await service.call("getBlock", { block: { number: 2n } })).toBeNull();
    expect(await service.call("getReceipt", { hash: `0x${"11".repeat(32)}` })).toBeNull();
  });

  it("follows consensus: another head makes other blocks canonical", async () => {
    const { chain, engine, service, mine, setHead } = await openEth();
    const raw = chain.signRaw(0, { to: new Address(addressOf(1)), value: 1n });
    const hash = (await service.call("sendRawTransaction", { raw })) as string;
    const first = await mine();
    const second = await mine();
    expect(await service.call("getReceipt", { hash })).toMatchObject({ blockNumber: "0x1" });
    const other = await engine.executor.build(engine.blocks.genesis, chain.attributes({}, engine.blocks.genesis));
    await setHead(other);

    expect(await service.call("blockNumber", {})).toBe("0x1");
    expect(await service.call("getReceipt", { hash })).toBeNull();
    expect(await service.call("getTransaction", { hash })).toMatchObject({ blockHash: null });
    expect(await service.call("getBlock", { block: { number: 1n } })).toMatchObject({ hash: toHex(other.hash) });
    expect(await service.call("getBlock", { block: { number: 2n } })).toBeNull();
    expect(await service.call("getBlock", { block: { hash: toHex(second.hash) } })).toMatchObject({ number: "0x2" });
    const lost = { hash: toHex(first.hash), requireCanonical: true };
    await expect(service.call("getBalance", { address: SENDER, block: lost })).rejects.toThrow(
      "not currently canonical",
    );
    const again = await mine();
    expect(await service.call("getReceipt", { hash })).toMatchObject({ blockHash: toHex(again.hash) });
  });

  it("builds the pending block from the pool and counts its nonces", async () => {
    const { chain, service } = await openEth();
    for (const nonce of [0n, 1n, 3n]) {
      await service.call("sendRawTransaction", {
        raw: chain.signRaw(0, { to: new Address(addressOf(1)), value: 5n, nonce }),
      });
    }
    const pending = { tag: "pending" } as const;
    expect(await service.call("getBlock", { block: pending })).toMatchObject({ number: "0x1", hash: null });
    expect(await service.call("getTransactionCountOfBlock", { block: pending })).toBe("0x2");
    expect(await service.call("getTransactionCount", { address: SENDER, block: pending })).toBe("0x2");
    expect(await service.call("getTransactionCount", { address: SENDER })).toBe("0x0");
    expect(await service.call("getBalance", { address: addressOf(1), block: pending })).toBe("0xa");
    expect(await service.call("poolStatus", {})).toEqual({ pending: "0x2", queued: "0x1" });
    const { pending: inspected, queued } = (await service.call("poolInspect", {})) as Record<string, Json>;
    const sender = wallet.address.toLowerCase();
    expect(Object.keys(inspected![sender] as Json)).toEqual(["0", "1"]);
    expect((queued![sender] as Json)["3"]).toBe(`${toHex(addressOf(1))}: 5 wei + 300000 gas × 20000000000 wei`);
  });
});

describe("the pending block", () => {
  const block = { tag: "pending" } as const;

  it("is built once for a head and a pool", async () => {
    const { chain, engine, service, mine } = await openEth();
    const build = vi.spyOn(engine.executor, "build");
    const read = () =>
      Promise.all([
        service.call("getBlock", { block }),
        service.call("estimateGas", { call: { from: SENDER, to: addressOf(1), value: 1n } }),
        service.call("getBalance", { address: addressOf(1), block }),
      ]);
    await read();
    await read();
    expect(build).toHaveBeenCalledTimes(1);
    const raw = chain.signRaw(0, { to: new Address(addressOf(1)), value: 5n });
    await service.call("sendRawTransaction", { raw });
    expect((await read())[2]).toBe("0x5");
    expect(build).toHaveBeenCalledTimes(2);
    await engine.override({ address: addressOf(1), balance: 1n });
    expect((await read())[2]).toBe("0x6");
    await mine();
    build.mockClear();
    await read();
    expect(build).toHaveBeenCalledTimes(1);
  });

  it("is built anew after a failure", async () => {
    const { engine, service } = await openEth();
    vi.spyOn(engine.executor, "build").mockRejectedValueOnce(new Error("broken"));
    await expect(service.call("getBlock", { block })).rejects.toThrow("broken");
    expect(await service.call("getBlock", { block })).toMatchObject({ number: "0x1" });
  });

  it("has the time and the rules of the next slot", async () => {
    const nextTimestamp = GENESIS_TIME + 600;
    const { chain, engine, service } = await openEth(undefined, optionsOf("prague", { osaka: nextTimestamp }));
    const hash = toHex(engine.blocks.genesis.hash);
    const tags = { latest: hash, safe: hash, finalized: hash };
    // EIP-7825 limits the gas of a transaction since Osaka.
    const raw = chain.signRaw(0, { to: new Address(addressOf(1)), gasLimit: 2n ** 24n + 1n });
    await service.call("sendRawTransaction", { raw });
    expect(await service.call("getTransactionCountOfBlock", { block })).toBe("0x1");
    await service.setTags({ ...tags, nextTimestamp });
    expect(await service.call("getBlock", { block })).toMatchObject({
      timestamp: `0x${nextTimestamp.toString(16)}`,
      transactions: [],
    });
    await expect(service.call("sendRawTransaction", { raw })).rejects.toThrow("transaction gas limit too high");
    await service.setTags(tags);
    await service.call("sendRawTransaction", { raw });
  });
});

describe("a call on the pending block", () => {
  it("runs where the next transaction will: before the system calls that end the block", async () => {
    const { chain, service, mine } = await openEth();
    await mine();
    const request = { to: WITHDRAWAL_REQUESTS_ADDRESS, value: 10n, data: new Uint8Array(56).fill(1) };
    const call = { ...request, from: SENDER, to: WITHDRAWAL_REQUESTS_ADDRESS.bytes };
    // More requests than the target of two, so that the system call raises the next block's fee.
    for (const account of [1, 2, 3, 4]) {
      await service.call("sendRawTransaction", { raw: chain.signRaw(account, request) });
    }
    const estimated = BigInt((await service.call("estimateGas", { call })) as string);
    const block = { tag: "pending" } as const;
    const trace = (await service.call("traceCall", { call: { ...call, gas: 200_000n }, block })) as Json;
    const { gasUsed } = (await service.call("createAccessList", { call, block })) as { gasUsed: string };
    await expect(service.call("call", { call: { ...call, gas: estimated }, block })).resolves.toBe("0x");
    await service.call("sendTransaction", { transaction: call });
    await mine();
    const { number } = (await service.call("getBlock", { block: { tag: "latest" } })) as { number: string };
    const receipts = (await service.call("getBlockReceipts", { block: { number: BigInt(number) } })) as Json[];
    const own = receipts.find(({ from }) => from === wallet.address.toLowerCase())!;
    expect(own.status).toBe("0x1");
    const used = BigInt(own.gasUsed as string);
    expect(estimated).toBeGreaterThanOrEqual(used);
    expect(estimated).toBeLessThan((used * 103n) / 100n);
    expect(trace.gas).toBe(Number(used));
    expect(BigInt(gasUsed)).toBeGreaterThan(100_000n);
  });
});

describe("errors", () => {
  it.each([
    ["nonce too low", { nonce: 0n }],
    ["insufficient funds for gas * price + value", { value: 10n ** 23n }],
    ["intrinsic gas too low", { gasLimit: 20_000n }],
  ])("are those of geth: %s", async (message, fields) => {
    const { chain, service, mine } = await openEth();
    const to = new Address(addressOf(1));
    await service.call("sendRawTransaction", { raw: chain.signRaw(0, { to }) });
    await mine();
    const sent = service.call("sendRawTransaction", { raw: chain.signRaw(0, { to, ...fields }) });
    await expect(sent).rejects.toBeInstanceOf(EthError);
    await expect(sent).rejects.toMatchObject({ code: -32000, message: expect.stringContaining(message) });
  });

  it("name an unknown block", async () => {
    const { service } = await openEth();
    const at = (block: { number: bigint } | { hash: string }) => service.call("getBalance", { address: SENDER, block });
    await expect(at({ number: 5n })).rejects.toThrow(/^header not found$/);
    await expect(at({ hash: `0x${"11".repeat(32)}` })).rejects.toThrow(/^header for hash not found$/);
  });
});

describe("fees", () => {
  it("returns the history of base fees and tips", async () => {
    const { chain, engine, service, mine } = await openEth();
    for (const tip of [1n, 3n]) {
      const fees = { maxPriorityFeePerGas: tip * GWEI };
      await service.call("sendRawTransaction", {
        raw: chain.signRaw(Number(tip), { to: new Address(addressOf(1)), ...fees }),
      });
    }
    await mine();
    await mine();
    const newest = { tag: "latest" } as const;
    const history = (await service.call("feeHistory", { count: 2, newest, percentiles: [0, 100] })) as Json;
    expect(history).toMatchObject({
      oldestBlock: "0x1",
      reward: [
        ["0x3b9aca00", "0xb2d05e00"],
        ["0x0", "0x0"],
      ],
    });
    const { header } = engine.head;
    expect((history.baseFeePerGas as string[])[1]).toBe(`0x${header.baseFeePerGas.toString(16)}`);
    expect((history.gasUsedRatio as number[])[1]).toBe(0);
    expect(history.baseFeePerBlobGas).toHaveLength(3);
    expect(BigInt((await service.call("gasPrice", {})) as string)).toBeGreaterThan(GWEI);
    expect(await service.call("feeHistory", { count: 5, newest: { number: 0n } })).toMatchObject({
      oldestBlock: "0x0",
    });
  });
});

describe("accounts", () => {
  it("signs messages and typed data as ethers verifies them", async () => {
    const { service } = await openEth();
    expect(await service.call("accounts", {})).toContain(wallet.address.toLowerCase());
    const message = new TextEncoder().encode("hello");
    const signature = (await service.call("sign", { address: SENDER, message })) as string;
    expect(verifyMessage("hello", signature)).toBe(wallet.address);
    const types = {
      Person: [
        { name: "name", type: "string" },
        { name: "wallets", type: "address[]" },
      ],
      Mail: [
        { name: "from", type: "Person" },
        { name: "to", type: "Person[2]" },
        { name: "amount", type: "int128" },
        { name: "code", type: "bytes4" },
        { name: "body", type: "bytes" },
        { name: "urgent", type: "bool" },
      ],
    };
    const domain = { name: "Ether Mail", version: "1", chainId: 31337, verifyingContract: toHex(addressOf(3)) };
    const person = (name: string) => ({ name, wallets: [toHex(addressOf(1)), toHex(addressOf(2))] });
    const content = {
      from: person("Ann"),
      to: [person("Bob"), person("Cid")],
      amount: "-5",
      code: "0x01020304",
      body: "0xabcdef",
      urgent: true,
    };
    const domainType = [
      { name: "name", type: "string" },
      { name: "version", type: "string" },
      { name: "chainId", type: "uint256" },
      { name: "verifyingContract", type: "address" },
    ];
    const typedData = { types: { ...types, EIP712Domain: domainType }, primaryType: "Mail", domain, message: content };
    const signed = (await service.call("signTypedData", { address: SENDER, typedData })) as string;
    expect(verifyTypedData(domain, types, content, signed)).toBe(wallet.address);
    const wrong = { ...typedData, message: { ...content, urgent: "yes" } };
    await expect(service.call("signTypedData", { address: SENDER, typedData: wrong })).rejects.toMatchObject({
      code: -32602,
      message: 'invalid typed data: "urgent" has to be a boolean',
    });
  });

  it("fills in, signs and sends transactions, and only for the funded accounts", async () => {
    const { service, mine } = await openEth();
    const transaction = { from: SENDER, to: addressOf(1), value: 9n };
    const { raw } = (await service.call("signTransaction", { transaction })) as { raw: string };
    expect(Transaction.from(raw)).toMatchObject({ from: wallet.address, nonce: 0, type: 2, value: 9n });
    const hash = (await service.call("sendTransaction", { transaction })) as string;
    expect(hash).toBe(Transaction.from(raw).hash);
    await service.call("sendTransaction", { transaction: { ...transaction, gasPrice: 3n * GWEI, gas: 21_000n } });
    await mine();
    expect(await service.call("getBalance", { address: addressOf(1) })).toBe("0x12");
    const foreign = { transaction: { ...transaction, from: addressOf(4) } };
    await expect(service.call("sendTransaction", foreign)).rejects.toThrow(`unknown account 0x${hexOf(addressOf(4))}`);
    const elsewhere = { transaction: { ...transaction, chainId: 1n } };
    await expect(service.call("sendTransaction", elsewhere)).rejects.toThrow("chainId does not match node's");
  });

  it("estimates the gas of transactions without any on the pending block, and rejects those that revert", async () => {
    const { service, engine, mine } = await openEth();
    const send = (data: Uint8Array, to?: Uint8Array) =>
      service.call("sendTransaction", { transaction: { from: SENDER, data, ...(to && { to }) } });
    await expect(send(bytesOf("60006000fd"))).rejects.toMatchObject({ code: 3, message: "execution reverted" });
    expect(engine.pool.size).toBe(0);
    // Deploys a contract that stores 1 in slot 0.
    await send(bytesOf("656001600055006000526006601af3"));
    const contract = bytesOf(getCreateAddress({ from: wallet.address, nonce: 0 }));
    await send(new Uint8Array(0), contract);
    const { receipts, transactions } = await mine();
    expect(receipts.map(({ succeeded }) => succeeded)).toEqual([true, true]);
    expect(transactions[1]!.tx.gasLimit).toBeGreaterThan(40_000n);
    expect(transactions[1]!.tx.gasLimit).toBeLessThan(60_000n);
  });

  it("estimates no transfer that cannot fail", async () => {
    const { engine, service } = await openEth();
    const estimator = vi.fn(async () => 50_000n);
    const signer = new LocalEthService(engine, estimator);
    const gasOf = async (transaction: object) => {
      const { raw } = (await signer.call("signTransaction", { transaction: { from: SENDER, ...transaction } })) as Json;
      return Transaction.from(raw as string).gasLimit;
    };
    expect(await gasOf({ to: SENDER, value: 1n })).toBe(21_000n);
    expect(estimator).not.toHaveBeenCalled();
    const precompile = bytesOf("04".padStart(40, "0"));
    const others = [
      { to: precompile },
      { to: SENDER, data: SENDER },
      { to: SENDER, value: 10n ** 40n },
      { data: SENDER },
    ];
    for (const other of others) expect(await gasOf(other)).toBe(50_000n);
    await service.call("sendTransaction", { transaction: { from: SENDER, to: SENDER } });
    expect(await gasOf({ to: SENDER })).toBe(50_000n);
  });
});
