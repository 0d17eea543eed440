import { expect, it } from "vitest";
import { addressOf, bytesOf, GWEI, hexOf, optionsOf, TestChain } from "../../../../test/support/evm/evm.ts";
import type { GenesisAccount } from "../../genesis.ts";
import { createAccessList } from "./access-list.ts";
import { failureError, revertReason } from "./call-failure.ts";
import type { CallRequest } from "./call-request.ts";
import { CallState } from "./call-state.ts";
import { estimateGas } from "./estimate-gas.ts";

const [READER, REVERTER, LOOPER, WRITER, FORWARDER, CALLBACK] = [0, 1, 2, 3, 4, 5].map((n) => addressOf(0x500 + n)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const CODE: readonly [Uint8Array, string][] = [
  // Returns CALLER, BASEFEE, NUMBER, BLOBBASEFEE and slot 0.
  [READER, "3360005248602052436040524a60605260005460805260a06000f3"],
  // Reverts with its input.
  [REVERTER, "366000600037366000fd"],
  [LOOPER, "5b600056"],
  // Stores 1 in slot 1.
  [WRITER, "600160015500"],
  // Calls the writer with all available gas, and reverts on failure.
  [FORWARDER, `6000600060006000600073${hexOf(WRITER)}5af115602657005b60006000fd`],
  // Returns the size of the caller's code.
  [CALLBACK, "333b60005260206000f3"],
];
const ACCOUNTS: readonly GenesisAccount[] = CODE.map(([address, code]) => ({
  address,
  nonce: 1n,
  code: bytesOf(code),
}));
const FUNDED = bytesOf("f39fd6e51aad88f6f4ce6ab8827279cfffb92266");
const FUNDS = 10_000n * 10n ** 18n;

const word = (value: bigint | Uint8Array): string =>
  (typeof value === "bigint" ? value.toString(16) : hexOf(value)).padStart(64, "0");

async function openCalls(overrides: Partial<Parameters<typeof CallState.open>[1]> = {}) {
  const chain = await TestChain.open(optionsOf("osaka"), ACCOUNTS);
  const block = await chain.build();
  const context = { block, ...overrides };
  return {
    block,
    run: (request: CallRequest) => CallState.open(chain.rules, context, (state) => state.run(request)),
    estimate: (request: CallRequest) => CallState.open(chain.rules, context, (state) => estimateGas(state, request)),
    accessList: (request: CallRequest) =>
      CallState.open(chain.rules, context, (state) => createAccessList(state, request)),
    failure: async (request: CallRequest) => {
      const { failure } = await CallState.open(chain.rules, context, (state) => state.run(request));
      return failureError(failure!);
    },
    chain,
    context,
  };
}

it("calls with the header of the block, and a base fee of zero without a price", async () => {
  const { run, block } = await openCalls();
  const free = await run({ to: READER, from: FUNDED });
  expect(hexOf(free.returnData)).toBe([word(FUNDED), word(0n), word(1n), word(1n), word(0n)].join(""));
  const { baseFeePerGas } = block.header;
  const paid = await run({ to: READER, from: FUNDED, gas: 100_000n, maxFeePerGas: 2n * baseFeePerGas });
  expect(hexOf(paid.returnData).slice(64, 128)).toBe(word(baseFeePerGas));
});

it("replaces header fields and accounts", async () => {
  const { run } = await openCalls({
    blockOverrides: { number: 77n, blobBaseFee: 5n, baseFeePerGas: 3n },
    stateOverrides: [
      [READER, { stateDiff: [[new Uint8Array(32), bytesOf(word(9n))]] }],
      [addressOf(1), { balance: 1000n, code: bytesOf(CODE[0]![1]), nonce: 7n }],
    ],
  });
  const request = { from: FUNDED, gas: 100_000n, maxFeePerGas: 3n };
  const { returnData } = await run({ ...request, to: READER });
  expect(hexOf(returnData).slice(64)).toBe([word(3n), word(77n), word(5n), word(9n)].join(""));
  expect(hexOf((await run({ to: addressOf(1), from: addressOf(1), value: 1000n })).returnData).slice(0, 64)).toBe(
    word(addressOf(1)),
  );
});

it("lets a contract be the sender, and keeps its code", async () => {
  const { run } = await openCalls();
  const { returnData } = await run({ from: READER, to: CALLBACK });
  expect(BigInt(`0x${hexOf(returnData)}`)).toBe(BigInt(CODE[0]![1].length / 2));
});

it("returns reverts with data and reason", async () => {
  const { failure } = await openCalls();
  const text = Buffer.from("too late").toString("hex").padEnd(64, "0");
  const reason = bytesOf(`08c379a0${word(32n)}${word(8n)}${text}`);
  expect(await failure({ to: REVERTER, data: reason })).toMatchObject({
    message: "execution reverted: too late",
    code: 3,
    data: `0x${hexOf(reason)}`,
  });
  expect(await failure({ to: REVERTER, data: bytesOf("12345678") })).toMatchObject({
    message: "execution reverted",
    data: "0x12345678",
  });
  expect(revertReason(bytesOf(`4e487b71${word(0x11n)}`))).toBe("arithmetic underflow or overflow");
  expect(revertReason(bytesOf(`4e487b71${word(0x99n)}`))).toBe("unknown panic code: 0x99");
  expect(revertReason(bytesOf(`08c379a0${word(32n)}${word(2n ** 255n)}`))).toBeUndefined();
});

it("returns other failures with geth's messages", async () => {
  const { failure, run } = await openCalls();
  expect((await failure({ data: bytesOf("fe") })).message).toBe("invalid opcode");
  expect((await failure({ data: bytesOf("600056") })).message).toBe("invalid jump destination");
  expect((await failure({ to: LOOPER, gas: 100_000n })).message).toBe("out of gas");
  await expect(run({ from: FUNDED, to: WRITER, gas: 20_000n })).rejects.toThrow(
    "intrinsic gas too low: have 20000, want 21000",
  );
  await expect(run({ to: WRITER, from: addressOf(9), value: 1n })).rejects.toThrow(
    /^insufficient funds for gas \* price \+ value: address 0x0+1009 have 0 want 1 /,
  );
  await expect(run({ to: WRITER, gasPrice: 1n, maxFeePerGas: 1n })).rejects.toThrow("both gasPrice and");
  await expect(run({ to: WRITER, maxFeePerGas: 1n, maxPriorityFeePerGas: 2n })).rejects.toThrow(
    "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: 2, maxFeePerGas: 1",
  );
  await expect(run({ to: WRITER, from: FUNDED, gas: 50_000n, gasPrice: 1n })).rejects.toThrow(
    "max fee per gas less than block base fee",
  );
});

it("names what is wrong with a call without the text of the EVM library", async () => {
  const { run } = await openCalls({ blockOverrides: { blobBaseFee: 10n } });
  const blobs = (count: number, first = 1) => Array.from({ length: count }, () => new Uint8Array(32).fill(first, 0, 1));
  const overflow = 2n ** 256n - 1n;
  for (const [request, message] of [
    [{ data: new Uint8Array(60_000) }, "max initcode size exceeded: code size 60000 limit 49152"],
    [{ blobVersionedHashes: [] }, "blob transaction missing blob hashes"],
    [{ blobVersionedHashes: blobs(7) }, "too many blobs in transaction: have 7, permitted 6"],
    [{ blobVersionedHashes: blobs(10) }, "too many blobs in transaction: blob gas 1310720, permitted 1179648"],
    [{ blobVersionedHashes: blobs(1, 2) }, "blob hash has an invalid version: versioned hashes start with 0x01"],
    [
      { blobVersionedHashes: blobs(1), maxFeePerBlobGas: 1n },
      "max fee per blob gas less than block blob gas fee: maxFeePerBlobGas: 1, blobBaseFee: 10",
    ],
    [{ authorizationList: [] }, "EIP-7702 transaction with empty auth list"],
    [{ to: undefined, blobVersionedHashes: blobs(1) }, 'transaction of this type cannot create a contract: "to" is'],
    [{ gasPrice: overflow }, "gasPrice too high: gas * gasPrice exceeds 2^256 - 1"],
    [{ maxFeePerGas: overflow }, "maxFeePerGas too high: gas * maxFeePerGas exceeds 2^256 - 1"],
    [{ nonce: 2n ** 64n - 1n }, "nonce has max value"],
  ] satisfies [CallRequest, string][]) {
    const to = "data" in request ? undefined : WRITER;
    await expect(run({ from: FUNDED, ...(to && { to }), ...request }), message).rejects.toThrow(message);
  }
});

it("aborts an endless call, and lets other work run meanwhile", async () => {
  const { chain, context } = await openCalls();
  const cancelled = new AbortController();
  const call = CallState.open(chain.rules, { ...context, signal: cancelled.signal }, (state) =>
    state.run({ to: LOOPER }, 10n ** 12n),
  );
  const built = await chain.build([chain.sign(0, { to: undefined, data: bytesOf(CODE[3]![1]) })]);
  expect(built.receipts).toHaveLength(1);
  cancelled.abort();
  await expect(call).rejects.toThrow("aborted");
});

it("estimates gas that is enough, and not much more", async () => {
  const { estimate, run } = await openCalls();
  expect(await estimate({ from: FUNDED, to: addressOf(1), value: 1n })).toBe(21_000n);
  for (const request of [
    { from: FUNDED, to: WRITER },
    { from: FUNDED, to: FORWARDER },
    { from: FUNDED, data: bytesOf("600160005560006000f3") },
  ]) {
    const gas = await estimate(request);
    const { gasUsed, failure } = await run({ ...request, gas });
    expect(failure).toBeUndefined();
    expect(gas).toBeLessThanOrEqual((gasUsed * 103n) / 100n);
  }
});

it("rejects the estimate of a call that always fails", async () => {
  const { estimate, block } = await openCalls();
  await expect(estimate({ to: REVERTER, data: bytesOf("01") })).rejects.toMatchObject({ code: 3, data: "0x01" });
  await expect(estimate({ to: LOOPER, gas: 100_000n })).rejects.toThrow("gas required exceeds allowance (100000)");
  const price = block.header.baseFeePerGas;
  await expect(estimate({ from: FUNDED, to: WRITER, gasPrice: price, value: FUNDS + 1n })).rejects.toThrow(
    "insufficient funds for transfer",
  );
  await expect(estimate({ from: FUNDED, to: WRITER, gasPrice: price, value: FUNDS - price * 21_500n })).rejects.toThrow(
    "gas required exceeds allowance (21500)",
  );
});

it("finds the access list of a call", async () => {
  const { accessList } = await openCalls();
  expect(await accessList({ from: FUNDED, to: FORWARDER, gas: 200_000n })).toEqual({
    accessList: [{ address: `0x${hexOf(WRITER)}`, storageKeys: [`0x${word(1n)}`] }],
    gasUsed: expect.stringMatching(/^0x/),
  });
  expect(await accessList({ from: FUNDED, to: REVERTER })).toMatchObject({
    accessList: [],
    error: "execution reverted",
  });
  expect(await accessList({ from: FUNDED, to: addressOf(1), maxFeePerGas: 100n * GWEI, gas: 30_000n })).toEqual({
    accessList: [],
    gasUsed: "0x5208",
  });
});
