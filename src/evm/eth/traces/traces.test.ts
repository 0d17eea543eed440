import { getCreateAddress } from "ethers";
import { expect, it } from "vitest";
import { addressOf, bytesOf, hexOf, optionsOf, TestChain } from "../../../../test/support/evm/evm.ts";
import { CallState, GAS_CAP } from "../calls/call-state.ts";
import { CallTracer } from "./call-tracer.ts";
import { FourByteTracer } from "./four-byte-tracer.ts";
import { PrestateTracer } from "./prestate-tracer.ts";
import { StructLogger } from "./struct-logger.ts";
import type { Tracer } from "./tracer.ts";

const [LOGGER, OUTER, REVERTER] = [1, 2, 3].map((n) => addressOf(0x600 + n)) as [Uint8Array, Uint8Array, Uint8Array];
const hex = (address: Uint8Array) => `0x${hexOf(address)}`;
/** Calls an address using an opcode that takes a value, and drops the result. */
const call = (opcode: string, to: Uint8Array, value = 0) =>
  `600060006000600060${value.toString(16).padStart(2, "0")}73${hexOf(to)}5a${opcode}50`;
const staticCall = (opcode: string, to: Uint8Array) => `600060006000600073${hexOf(to)}5a${opcode}50`;
const ACCOUNTS = [
  // Logs one byte of memory with topic 7, and returns that byte.
  { address: LOGGER, nonce: 1n, code: bytesOf("60ab600053600760016000a160016000f3") },
  { address: REVERTER, nonce: 1n, code: bytesOf("60006000fd") },
  {
    address: OUTER,
    nonce: 1n,
    balance: 100n,
    code: bytesOf(
      [
        call("f1", LOGGER, 3),
        staticCall("fa", REVERTER),
        staticCall("f4", LOGGER),
        // Stores 5 in slot 1 and reads it.
        "600560015560015450",
        // Creates an empty contract.
        "600060006000f050",
        "00",
      ].join(""),
    ),
  },
];
const SENDER = bytesOf("f39fd6e51aad88f6f4ce6ab8827279cfffb92266");
const COINBASE = addressOf(0x6ff);
const NO_DATA: Uint8Array = new Uint8Array(0);

async function trace(tracer: Tracer, to: Uint8Array = OUTER, gas = 500_000n, input = NO_DATA): Promise<unknown> {
  const chain = await TestChain.open(optionsOf("osaka"), ACCOUNTS);
  return CallState.open(chain.rules, { block: chain.head }, async (state) => {
    const { state: world, vm } = state.machine;
    const subject = { state: world, sender: SENDER, recipient: to, feeRecipient: COINBASE, authorities: [] };
    const detach = tracer.attach(vm.evm.events!, { ...subject, precompiles: vm.evm.precompiles });
    const outcome = await state.run({ from: SENDER, to, gas, data: input });
    detach();
    return tracer.result(outcome);
  });
}

it("records the tree of calls", async () => {
  const frame = await trace(new CallTracer(500_000n));
  const inner = { gas: expect.stringMatching(/^0x/), gasUsed: expect.stringMatching(/^0x/), input: "0x" };
  expect(frame).toEqual({
    ...inner,
    type: "CALL",
    from: hex(SENDER),
    to: hex(OUTER),
    value: "0x0",
    gas: "0x7a120",
    calls: [
      { ...inner, type: "CALL", from: hex(OUTER), to: hex(LOGGER), value: "0x3", output: "0xab" },
      { ...inner, type: "STATICCALL", from: hex(OUTER), to: hex(REVERTER), error: "execution reverted" },
      { ...inner, type: "DELEGATECALL", from: hex(OUTER), to: hex(LOGGER), value: "0x0", output: "0xab" },
      { ...inner, type: "CREATE", from: hex(OUTER), to: expect.stringMatching(/^0x\w{40}$/), value: "0x0" },
    ],
  });
  expect(await trace(new CallTracer(GAS_CAP, { onlyTopCall: true }))).not.toHaveProperty("calls");
});

it("records logs with the number of calls before them", async () => {
  const frame = (await trace(new CallTracer(GAS_CAP, { withLog: true }))) as { calls: { logs?: unknown[] }[] };
  expect(frame.calls.map(({ logs }) => logs?.length ?? 0)).toEqual([1, 0, 1, 0]);
  expect(frame.calls[2]?.logs).toEqual([
    { address: hex(OUTER), topics: [`0x${"7".padStart(64, "0")}`], data: "0xab", position: "0x0" },
  ]);
});

it("records each opcode", async () => {
  const logger = new StructLogger({ enableMemory: true });
  const { gas, failed, returnValue, structLogs } = (await trace(logger, LOGGER)) as {
    gas: number;
    failed: boolean;
    returnValue: string;
    structLogs: Record<string, unknown>[];
  };
  expect({ failed, returnValue }).toEqual({ failed: false, returnValue: "0xab" });
  expect(gas).toBeGreaterThan(21_000);
  expect(structLogs.map(({ op }) => op).slice(0, 4)).toEqual(["PUSH1", "PUSH1", "MSTORE8", "PUSH1"]);
  expect(structLogs[2]).toMatchObject({ pc: 4, depth: 1, stack: ["0xab", "0x0"], gasCost: 6, memory: [] });
  expect(structLogs[3]).toMatchObject({ memory: [`0xab${"0".repeat(62)}`] });
});

it("records the output of the last inner call", async () => {
  const { structLogs } = (await trace(new StructLogger({ enableReturnData: true }))) as {
    structLogs: { op: string; depth: number; returnData: string; refund: number }[];
  };
  const afterCalls = structLogs.filter(({ op, depth }) => op === "POP" && depth === 1);
  // CALL, STATICCALL, DELEGATECALL, SLOAD and CREATE.
  expect(afterCalls.map(({ returnData }) => returnData)).toEqual(["0xab", "0x", "0xab", "0xab", "0x"]);
  expect(structLogs[0]).toMatchObject({ returnData: "0x", refund: 0 });
});

it("records accounts and slots as they were before", async () => {
  const states = (await trace(new PrestateTracer())) as Record<string, Record<string, unknown>>;
  expect(Object.keys(states).sort()).toEqual([SENDER, OUTER, LOGGER, REVERTER].map(hex).sort());
  expect(states[hex(OUTER)]).toEqual({
    balance: "0x64",
    nonce: 1,
    code: hex(ACCOUNTS[2]!.code),
    codeHash: expect.stringMatching(/^0x\w{64}$/),
    storage: { [`0x${"1".padStart(64, "0")}`]: `0x${"0".repeat(64)}` },
  });
  const options = { disableCode: true, disableStorage: true, includeEmpty: true };
  const short = (await trace(new PrestateTracer(options))) as Record<string, Record<string, unknown>>;
  expect(Object.keys(short[hex(OUTER)]!)).toEqual(["balance", "nonce", "codeHash"]);
  expect(short[hex(COINBASE)]).toEqual({ balance: "0x0" });
});

it("records the difference that a transaction makes", async () => {
  const { pre, post } = (await trace(new PrestateTracer({ diffMode: true }))) as Record<
    "pre" | "post",
    Record<string, Record<string, unknown>>
  >;
  const created = getCreateAddress({ from: hex(OUTER), nonce: 1 }).toLowerCase();
  expect(Object.keys(post).sort()).toEqual([...[SENDER, OUTER, LOGGER].map(hex), created].sort());
  expect(post[hex(OUTER)]).toEqual({
    balance: "0x61",
    nonce: 2,
    storage: { [`0x${"1".padStart(64, "0")}`]: `0x${"5".padStart(64, "0")}` },
  });
  expect(post[hex(LOGGER)]).toEqual({ balance: "0x3" });
  expect(post[created]).toEqual({ nonce: 1 });
  expect(pre[hex(OUTER)]).toMatchObject({ balance: "0x64", nonce: 1 });
  expect(pre[hex(OUTER)]).not.toHaveProperty("storage");
  expect(pre).not.toHaveProperty(created);
  expect(() => new PrestateTracer({ diffMode: true, includeEmpty: true })).toThrow("cannot use diffMode");
});

it("counts selectors", async () => {
  expect(await trace(new FourByteTracer(), OUTER, 500_000n, bytesOf("0102030405"))).toEqual({ "0x01020304-1": 1 });
  // SHA-256 is a precompile.
  expect(await trace(new FourByteTracer(), bytesOf("02".padStart(40, "0")), 500_000n, bytesOf("01020304"))).toEqual({});
});

it("records storage, and stops at a limit", async () => {
  const full = (await trace(new StructLogger())) as { structLogs: { op: string; storage?: object; depth: number }[] };
  const touched = full.structLogs.filter(({ storage }) => storage);
  const slots = { [`0x${"1".padStart(64, "0")}`]: `0x${"5".padStart(64, "0")}` };
  expect(touched.map(({ op, storage }) => [op, storage])).toEqual([
    ["SSTORE", slots],
    ["SLOAD", slots],
  ]);
  expect(full.structLogs.some(({ depth }) => depth === 2)).toBe(true);
  const short = (await trace(new StructLogger({ limit: 3, disableStack: true }))) as { structLogs: object[] };
  expect(short.structLogs).toHaveLength(3);
  expect(short.structLogs[0]).not.toHaveProperty("stack");
});
