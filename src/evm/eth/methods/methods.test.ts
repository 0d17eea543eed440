import { crc32 } from "node:zlib";
import { Address } from "@ethereumjs/util";
import { decodeRlp, encodeRlp, keccak256 } from "ethers";
import { describe, expect, it } from "vitest";
import { openEth } from "../../../../test/support/evm/eth/eth.ts";
import { addressOf, bytesOf, GENESIS_TIME, GWEI, optionsOf } from "../../../../test/support/evm/evm.ts";
import { toHex } from "../../execution/payload.ts";

const LATEST = { tag: "latest" } as const;
const UNKNOWN = `0x${"11".repeat(32)}`;
/** Emits a log with topic 1. */
const LOGGING = bytesOf("600160006000a100");
type Json = Record<string, unknown>;

async function openWithBlock() {
  const eth = await openEth();
  const raws = [
    eth.chain.signRaw(0, { data: LOGGING, maxPriorityFeePerGas: 20n * GWEI }),
    eth.chain.signRaw(1, { type: 0, to: new Address(addressOf(1)) }),
  ];
  const hashes: string[] = [];
  for (const raw of raws) hashes.push((await eth.service.call("sendRawTransaction", { raw })) as string);
  return { ...eth, raws, hashes, block: await eth.mine() };
}

describe("binary encodings", () => {
  it("have the hashes of what they encode", async () => {
    const { service, block, raws, hashes } = await openWithBlock();
    const hash = toHex(block.hash);
    expect(keccak256((await service.call("getRawHeader", { block: LATEST })) as string)).toBe(hash);
    const raw = (await service.call("getRawBlock", { block: { hash } })) as string;
    const [header, transactions, uncles, withdrawals] = decodeRlp(raw) as [unknown[], unknown[], [], []];
    expect(keccak256(encodeRlp(header as never))).toBe(hash);
    // Typed transactions are byte strings; legacy transactions are lists.
    expect(transactions).toEqual([toHex(raws[0]!), decodeRlp(toHex(raws[1]!))]);
    expect([uncles, withdrawals]).toEqual([[], []]);
    expect(await service.call("getBlock", { block: LATEST })).toMatchObject({
      size: `0x${((raw.length - 2) / 2).toString(16)}`,
    });
    expect(await service.call("getRawTransaction", { hash: hashes[0]! })).toBe(toHex(raws[0]!));
    expect(await service.call("getRawTransaction", { hash: UNKNOWN })).toBeNull();
    const receipts = (await service.call("getRawReceipts", { block: { number: 1n } })) as string[];
    expect(receipts.map((each) => each.slice(0, 4))).toEqual(["0x02", "0xf9"]);
    await expect(service.call("getRawBlock", { block: { number: 7n } })).rejects.toThrow("block not found");
  });
});

describe("the schedule of forks", () => {
  it("has the present, the next and the last fork", async () => {
    const [prague, osaka] = [GENESIS_TIME + 6, GENESIS_TIME + 600];
    const { service, engine, mine } = await openEth(undefined, optionsOf("cancun", { prague, osaka }));
    const config = async () => (await service.call("config", {})) as Record<"current" | "next" | "last", Json | null>;
    const before = await config();
    expect(before).toMatchObject({
      current: {
        activationTime: 0,
        chainId: "0x7a69",
        blobSchedule: { target: 3, max: 6, baseFeeUpdateFraction: 3338477 },
      },
      next: { activationTime: prague, blobSchedule: { target: 6, max: 9 } },
      last: { activationTime: osaka },
    });
    const times = Buffer.alloc(16);
    times.writeBigUInt64BE(BigInt(prague));
    times.writeBigUInt64BE(BigInt(osaka), 8);
    const { hash } = engine.blocks.genesis;
    const ids = [0, 8, 16].map((size) => crc32(Buffer.concat([hash, times.subarray(0, size)])));
    const hex = (id: number) => `0x${id.toString(16).padStart(8, "0")}`;
    expect([before.current, before.next, before.last].map((each) => each!.forkId)).toEqual(ids.map(hex));
    await mine();
    const after = await config();
    expect([after.current, after.next, after.last]).toEqual([before.next, before.last, before.last]);
  });

  it.each(["paris", "shanghai", "cancun", "prague", "osaka"] as const)("names all precompiles of %s", async (fork) => {
    const { service, engine } = await openEth(undefined, optionsOf(fork));
    const { current, next, last } = (await service.call("config", {})) as Record<string, { precompiles: Json } | null>;
    const active = await engine.rules.at(GENESIS_TIME).withMachine(async ({ vm }) => [...vm.evm.precompiles.keys()]);
    expect(Object.values(current!.precompiles).sort()).toEqual(active.map((address) => `0x${address}`).sort());
    expect([next, last]).toEqual([null, null]);
  });
});

describe("traces of blocks", () => {
  it("have the traces of all transactions in their order", async () => {
    const { service, block, hashes } = await openWithBlock();
    const options = { tracer: "callTracer" } as const;
    const traces = (await service.call("traceBlock", { block: LATEST, options })) as Json[];
    expect(traces.map(({ txHash }) => txHash)).toEqual(hashes);
    for (const [index, hash] of hashes.entries()) {
      expect(traces[index]!.result).toEqual(await service.call("traceTransaction", { hash, options }));
    }
    const at = { block: { hash: toHex(block.hash) }, options: { tracer: "prestateTracer" } as const };
    expect(await service.call("traceBlock", at)).toHaveLength(2);
    for (const [id, message] of [
      [{ number: 0n }, "genesis is not traceable"],
      [{ number: 7n }, "block not found"],
      [{ tag: "pending" }, "tracing on top of pending is not supported"],
    ] as const) {
      await expect(service.call("traceBlock", { block: id })).rejects.toThrow(message);
    }
  });

  it("show the fees that a transaction pays", async () => {
    const { service, block, hashes } = await openWithBlock();
    const options = { tracer: "prestateTracer", tracerConfig: { diffMode: true } } as const;
    const { pre, post } = (await service.call("traceTransaction", { hash: hashes[1]!, options })) as Record<
      "pre" | "post",
      Record<string, { balance: string; nonce: number }>
    >;
    const sender = block.transactions[1]!.sender.toString();
    const { gasUsed, effectiveGasPrice } = block.receipts[1]!;
    expect(BigInt(pre[sender]!.balance) - BigInt(post[sender]!.balance)).toBe(gasUsed * effectiveGasPrice);
    expect(post[sender]!.nonce).toBe(1);
  });
});

describe("the pool", () => {
  it("shows the transactions of one sender", async () => {
    const { chain, service } = await openEth();
    const to = new Address(addressOf(1));
    for (const nonce of [0n, 2n]) await service.call("sendRawTransaction", { raw: chain.signRaw(0, { to, nonce }) });
    await service.call("sendRawTransaction", { raw: chain.signRaw(1, { to }) });
    const { pending, queued } = (await service.call("poolContent", {})) as Record<string, Record<string, Json>>;
    const [address] = Object.keys(queued!);
    expect(await service.call("poolContentFrom", { address: bytesOf(address!) })).toEqual({
      pending: pending![address!],
      queued: queued![address!],
    });
    expect(await service.call("poolContentFrom", { address: addressOf(1) })).toEqual({ pending: {}, queued: {} });
  });
});

it("counts no uncles in a block", async () => {
  const { service } = await openEth();
  expect(await service.call("getUncleCountOfBlock", { block: LATEST })).toBe("0x0");
  expect(await service.call("getUncleCountOfBlock", { block: { number: 7n } })).toBeNull();
});

describe("refused transactions", () => {
  const from = bytesOf("f39fd6e51aad88f6f4ce6ab8827279cfffb92266");
  it.each([
    [
      "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: 2, maxFeePerGas: 1",
      { maxFeePerGas: 1n, maxPriorityFeePerGas: 2n },
    ],
    ["both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified", { gasPrice: 1n, maxFeePerGas: 1n }],
    ["transaction gas limit too high: cap 16777216 (EIP-7825), tx 16777217", { gas: 2n ** 24n + 1n }],
    ["chainId does not match node's (have=1, want=31337)", { chainId: 1n }],
  ])("have the message %s", async (message, fields) => {
    const { service } = await openEth();
    const transaction = { from, to: addressOf(1), gas: 21_000n, ...fields };
    await expect(service.call("sendTransaction", { transaction })).rejects.toMatchObject({ code: -32000, message });
  });
});
