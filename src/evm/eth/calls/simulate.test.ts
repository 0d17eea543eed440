import { createHash } from "node:crypto";
import { getCreateAddress } from "ethers";
import { expect, it } from "vitest";
import { addressOf, bytesOf, GWEI, hexOf, optionsOf, TestChain } from "../../../../test/support/evm/evm.ts";
import type { Simulation } from "./call-request.ts";
import { simulate } from "./simulate.ts";

const [NUMBERS, REVERTER, PAYER, CLEARER, DESTROYER, CREATOR] = [1, 2, 3, 4, 5, 6].map((n) => addressOf(0x700 + n)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const hex = (address: Uint8Array) => `0x${hexOf(address)}`;
const word = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}`;
const ACCOUNTS = [
  // Returns NUMBER, TIMESTAMP and BASEFEE.
  { address: NUMBERS, nonce: 1n, code: bytesOf("43600052426020524860405260606000f3") },
  // Reverts with its input.
  { address: REVERTER, nonce: 1n, code: bytesOf("366000600037366000fd") },
  // Clears slot 0.
  { address: CLEARER, nonce: 1n, code: bytesOf("600060005500") },
  // Sends its balance to 0x99.
  { address: DESTROYER, nonce: 1n, balance: 7n, code: bytesOf("6099ff") },
  // Creates a contract with 2 wei, then runs NUMBERS' code with 3 wei of its own.
  {
    address: CREATOR,
    nonce: 1n,
    balance: 5n,
    code: bytesOf(`600060006002f0506000600060006000600373${hexOf(NUMBERS)}5af25000`),
  },
  // Forwards the ETH it receives.
  { address: PAYER, nonce: 1n, code: bytesOf(`6000600060006000347300000000000000000000000000000000000000995af100`) },
];
const SENDER = bytesOf("f39fd6e51aad88f6f4ce6ab8827279cfffb92266");
/** Error("too late"). */
const REASON = `08c379a0${word(32n).slice(2)}${word(8n).slice(2)}${Buffer.from("too late").toString("hex").padEnd(64, "0")}`;
const SHA256 = bytesOf("02".padStart(40, "0"));

interface CallResult {
  status: string;
  returnData: string;
  gasUsed: string;
  maxUsedGas: string;
  logs: Record<string, unknown>[];
  error?: object;
}

async function run(simulation: Simulation) {
  const chain = await TestChain.open(optionsOf("osaka"), ACCOUNTS);
  const base = await chain.build();
  const blocks = await simulate(chain.executor, base, simulation);
  return { base, blocks: blocks as (Record<string, unknown> & { calls: CallResult[] })[] };
}

it("executes blocks in sequence, and fills gaps between their numbers", async () => {
  const { base, blocks } = await run({
    blockStateCalls: [
      { calls: [{ from: SENDER, to: NUMBERS }] },
      { blockOverrides: { number: 5n }, calls: [{ from: SENDER, to: NUMBERS }] },
    ],
  });
  expect(blocks.map(({ number }) => number)).toEqual(["0x2", "0x3", "0x4", "0x5"]);
  const time = base.header.timestamp;
  expect(blocks.map(({ timestamp }) => BigInt(timestamp as string) - time)).toEqual([12n, 24n, 36n, 48n]);
  for (const [index, block] of blocks.entries()) {
    if (index > 0) expect(block.parentHash).toBe(blocks[index - 1]!.hash);
  }
  const [first, , , last] = blocks;
  expect(first?.calls[0]?.returnData).toBe(word(2n) + word(time + 12n).slice(2) + word(0n).slice(2));
  expect(last?.calls[0]?.returnData.slice(0, 66)).toBe(word(5n));
});

it("keeps changes between calls and blocks", async () => {
  const poor = addressOf(5);
  const { blocks } = await run({
    blockStateCalls: [
      { stateOverrides: [[poor, { balance: 10n }]], calls: [{ from: poor, to: addressOf(6), value: 7n }] },
      { calls: [{ from: addressOf(6), to: addressOf(7), value: 7n }] },
    ],
    returnFullTransactions: true,
  });
  expect(blocks.flatMap(({ calls }) => calls.map(({ status }) => status))).toEqual(["0x1", "0x1"]);
  expect(blocks[0]?.transactions).toEqual([expect.objectContaining({ from: hex(poor), value: "0x7", type: "0x2" })]);
});

it("reports failed calls and continues", async () => {
  const { blocks } = await run({
    blockStateCalls: [
      { calls: [{ to: REVERTER, data: bytesOf(REASON) }, { data: bytesOf("fe"), gas: 100_000n }, { to: NUMBERS }] },
    ],
  });
  expect(blocks[0]?.calls.map(({ status, error }) => [status, error])).toEqual([
    ["0x0", { code: 3, message: "execution reverted: too late", data: `0x${REASON}` }],
    ["0x0", { code: -32015, message: "invalid opcode" }],
    ["0x1", undefined],
  ]);
});

it("adds a log for each transfer of wei", async () => {
  const { blocks } = await run({
    traceTransfers: true,
    blockStateCalls: [{ calls: [{ from: SENDER, to: PAYER, value: 5n }] }],
  });
  const logs = blocks[0]!.calls[0]!.logs;
  expect(logs.map(({ address, topics, data }) => [address, (topics as string[]).slice(1), data])).toEqual([
    [`0x${"ee".repeat(20)}`, [word(BigInt(hex(SENDER))), word(BigInt(hex(PAYER)))], word(5n)],
    [`0x${"ee".repeat(20)}`, [word(BigInt(hex(PAYER))), word(0x99n)], word(5n)],
  ]);
  expect(logs.map(({ logIndex }) => logIndex)).toEqual(["0x0", "0x1"]);
});

it("logs transfers by creation and self-destruction, but not by CALLCODE", async () => {
  const { blocks } = await run({
    traceTransfers: true,
    blockStateCalls: [{ calls: [{ to: DESTROYER }, { to: CREATOR }] }],
  });
  const transfers = blocks[0]!.calls.map(({ logs }) =>
    logs.map(({ topics, data }) => [(topics as string[])[1], (topics as string[])[2], data]),
  );
  const created = getCreateAddress({ from: hex(CREATOR), nonce: 1 });
  expect(transfers).toEqual([
    [[word(BigInt(hex(DESTROYER))), word(0x99n), word(7n)]],
    [[word(BigInt(hex(CREATOR))), word(BigInt(created)), word(2n)]],
  ]);
});

it("reports the gas before refunds", async () => {
  const stateDiff = [[new Uint8Array(32), bytesOf(word(1n))]] as const;
  const { blocks } = await run({
    blockStateCalls: [{ stateOverrides: [[CLEARER, { stateDiff }]], calls: [{ to: CLEARER }, { to: addressOf(1) }] }],
  });
  const [cleared, plain] = blocks[0]!.calls;
  // EIP-3529: clearing a slot refunds 4,800 gas.
  expect(BigInt(cleared!.maxUsedGas) - BigInt(cleared!.gasUsed)).toBe(4800n);
  expect(plain).toMatchObject({ gasUsed: "0x5208", maxUsedGas: "0x5208" });
});

it("moves precompiles for one block", async () => {
  const target = addressOf(8);
  const hashOf = (to: Uint8Array) => ({ to, data: bytesOf("68656c6c6f") });
  const calls = [hashOf(target), hashOf(SHA256)];
  const { blocks } = await run({
    blockStateCalls: [{ stateOverrides: [[SHA256, { movePrecompileToAddress: target }]], calls }, { calls }],
  });
  const hash = `0x${createHash("sha256").update("hello").digest("hex")}`;
  expect(blocks.map(({ calls: results }) => results.map(({ returnData }) => returnData))).toEqual([
    [hash, "0x"],
    ["0x", hash],
  ]);
  const moving = (address: Uint8Array, to: Uint8Array) =>
    run({ blockStateCalls: [{ stateOverrides: [[address, { movePrecompileToAddress: to }]] }] });
  await expect(moving(target, SHA256)).rejects.toThrow(`account ${hex(target)} is not a precompile`);
  await expect(moving(SHA256, SHA256)).rejects.toThrow(`account ${hex(SHA256)} is already overridden`);
});

it("replaces a precompile by code", async () => {
  const { blocks } = await run({
    blockStateCalls: [{ stateOverrides: [[SHA256, { code: ACCOUNTS[0]!.code }]], calls: [{ to: SHA256 }] }],
  });
  expect(blocks[0]!.calls[0]!.returnData.slice(0, 66)).toBe(word(2n));
});

it("credits withdrawals and sets the beacon root", async () => {
  const withdrawal = { index: 1, validatorIndex: 2, address: addressOf(6), amount: 3n };
  const beaconRoot = new Uint8Array(32).fill(9);
  const { blocks } = await run({
    blockStateCalls: [
      { blockOverrides: { withdrawals: [withdrawal], beaconRoot } },
      { calls: [{ from: addressOf(6), to: addressOf(7), value: 3n * GWEI }] },
    ],
  });
  expect(blocks[0]).toMatchObject({
    withdrawals: [{ index: "0x1", validatorIndex: "0x2", address: hex(addressOf(6)), amount: "0x3" }],
    parentBeaconBlockRoot: `0x${"09".repeat(32)}`,
  });
  expect(blocks[1]!.calls[0]!.status).toBe("0x1");
});

it("lets a call without a price run in a block with a base fee, unless it is validated", async () => {
  const simulation = (maxFeePerGas: bigint, validation = false): Simulation => ({
    validation,
    blockStateCalls: [{ blockOverrides: { baseFeePerGas: 10n }, calls: [{ from: SENDER, to: NUMBERS, maxFeePerGas }] }],
  });
  const { blocks } = await run(simulation(0n));
  expect(blocks[0]).toMatchObject({ baseFeePerGas: "0xa", calls: [{ status: "0x1" }] });
  expect(blocks[0]!.calls[0]!.returnData.slice(-64)).toBe(word(10n).slice(2));
  await expect(run(simulation(1n))).rejects.toMatchObject({ code: -38012 });
  await expect(run(simulation(0n, true))).rejects.toMatchObject({ code: -38012 });
});

it("applies the rules of transactions with validation only", async () => {
  const call = { from: SENDER, to: addressOf(1), value: 1n };
  const fees = { maxFeePerGas: 100n * GWEI, gas: 21_000n };
  const { blocks } = await run({ blockStateCalls: [{ calls: [{ ...call, nonce: 77n }] }] });
  expect(blocks[0]?.calls[0]?.status).toBe("0x1");
  const validated = (request: object) =>
    run({ validation: true, blockStateCalls: [{ calls: [{ ...call, ...fees, ...request }] }] });
  await expect(validated({})).resolves.toBeDefined();
  await expect(validated({ nonce: 77n })).rejects.toMatchObject({ code: -38011 });
  await expect(validated({ maxFeePerGas: 1n })).rejects.toMatchObject({ code: -38012 });
  await expect(validated({ value: 10n ** 30n })).rejects.toMatchObject({ code: -38014 });
  await expect(validated({ gas: 20_000n })).rejects.toMatchObject({ code: -38013 });
});

it("says that the gas of all calls is used up, in its own words", async () => {
  const exceeding = (gas: bigint, next: object) =>
    run({
      blockStateCalls: [
        { blockOverrides: { gasLimit: 10n ** 9n }, calls: [{ from: SENDER, data: bytesOf("fe"), gas }, next] },
      ],
    });
  await expect(exceeding(49_990_000n, { from: SENDER, to: NUMBERS })).rejects.toMatchObject({
    code: -38026,
    message:
      "cap of 50000000 gas for all calls of a simulation reached: earlier calls used 49990000 of it, " +
      "intrinsic gas too low: have 10000, want 21000",
  });
  await expect(exceeding(49_000_000n, { from: SENDER, to: NUMBERS, gas: 20_000n })).rejects.toMatchObject({
    code: -38013,
    message: "intrinsic gas too low: have 20000, want 21000",
  });
  const { blocks } = await exceeding(49_978_990n, { from: SENDER, to: NUMBERS });
  expect(blocks[0]?.calls[1]?.error).toEqual({
    code: -32015,
    message: "out of gas: cap of 50000000 gas for all calls of a simulation reached",
  });
});

it("rejects blocks out of order and too many blocks", async () => {
  const at = (...blockOverrides: object[]) =>
    run({ blockStateCalls: blockOverrides.map((o) => ({ blockOverrides: o })) });
  await expect(at({ number: 1n })).rejects.toMatchObject({ code: -38020 });
  await expect(at({ time: 1n })).rejects.toMatchObject({ code: -38021 });
  await expect(at({ number: 300n })).rejects.toMatchObject({
    code: -38026,
    message: expect.stringMatching(/^too many blocks: \d+, limit 256$/),
  });
  await expect(run({ blockStateCalls: [{ calls: [{ to: NUMBERS, gas: 10n ** 9n }] }] })).rejects.toMatchObject({
    code: -38015,
  });
});
