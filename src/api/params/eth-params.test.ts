import { describe, expect, it } from "vitest";
import { stateOverrides } from "./eth-call.ts";
import { logQuery } from "./eth-logs.ts";
import { callRequest, transactionRequest } from "./eth-transaction.ts";
import { firstMessage, type ParamSchema } from "./schema.ts";

const ADDRESS = `0x${"ab".repeat(20)}`;
const HASH = `0x${"cd".repeat(32)}`;
const bytes = (size: number, byte: number) => new Uint8Array(size).fill(byte);

function messageOf(schema: ParamSchema<unknown>, value: unknown): string {
  const parsed = schema.safeParse(value);
  return parsed.success ? "accepted" : firstMessage(parsed.error);
}

describe.each([
  ["transactions", transactionRequest],
  ["calls", callRequest],
])("fields of %s", (_, schema) => {
  it("are parsed; null counts as absent", () => {
    const authorization = { chainId: "0x1", address: ADDRESS, nonce: "0x0", yParity: "0x1", r: "0x2", s: "0x3" };
    const request = {
      from: ADDRESS,
      to: ADDRESS,
      gas: "0x5208",
      value: null,
      input: "0x0102",
      type: "0x4",
      accessList: [{ address: ADDRESS, storageKeys: [HASH] }, { address: ADDRESS }],
      authorizationList: [authorization],
    };
    expect(schema.parse(request)).toEqual({
      from: bytes(20, 0xab),
      to: bytes(20, 0xab),
      gas: 21_000n,
      data: new Uint8Array([1, 2]),
      type: 4,
      accessList: [
        { address: bytes(20, 0xab), storageKeys: [bytes(32, 0xcd)] },
        { address: bytes(20, 0xab), storageKeys: [] },
      ],
      authorizationList: [{ chainId: 1n, address: bytes(20, 0xab), nonce: 0n, yParity: 1n, r: 2n, s: 3n }],
    });
    expect(schema.parse({ to: "0x" })).toEqual({});
    expect(schema.parse({ to: null, data: "0x01", input: "0x01" })).toEqual({ data: new Uint8Array([1]) });
  });

  it.each([
    [{ type: "0x9" }, 'has an invalid "type": it must be a transaction type from 0x0 to 0x4, but "0x9" was given.'],
    [{ gas: 5 }, /^has an invalid "gas": it must be an integer in hex.*, but the number 5 was given\.$/],
    [{ data: "0x01", input: "0x02" }, 'has both "data" and "input", and they differ. Give one of them.'],
    [
      { accessList: [{}] },
      /^has an invalid "accessList": it has an invalid element at position 0: it has no "address"/,
    ],
    [{ authorizationList: [{ chainId: "0x1" }] }, /has no "address"\.$/],
  ])("are refused with the reason: %j", (value, message) => {
    expect(messageOf(schema, value)).toMatch(message);
  });
});

it("refuses unknown members only of transactions that are signed", () => {
  expect(messageOf(transactionRequest, { gasLimit: "0x1" })).toMatch(/^has an unknown member "gasLimit"\./);
  expect(messageOf(transactionRequest, { gaz: "0x1" })).toBe('has an unknown member "gaz". Did you mean "gas"?');
  expect(callRequest.parse({ gasLimit: "0x1" })).toEqual({});
});

describe("filters", () => {
  it("take one or several addresses and topics", () => {
    expect(logQuery.parse({ address: ADDRESS, topics: [HASH, null, [HASH, HASH]] })).toEqual({
      addresses: [ADDRESS],
      topics: [[HASH], null, [HASH, HASH]],
    });
    expect(logQuery.parse({ address: null, fromBlock: "0x1", toBlock: "latest" })).toEqual({
      fromBlock: { number: 1n },
      toBlock: { tag: "latest" },
    });
  });

  it.each([
    [
      { topics: [HASH, "0x12"] },
      /at position 1: it must be one or an array of hashes of 32 bytes, but "0x12" was given/,
    ],
    [{ topics: [[HASH, 7]] }, /at position 0: it has an invalid element at position 1: it must be a hash/],
    [{ topics: Array(5).fill(null) }, /must have at most 4 topics, but 5 were given\.$/],
    [{ topics: HASH }, /must be an array of at most 4 topics, but "0xcd\w+…" was given\.$/],
    [{ blockHash: HASH, toBlock: "latest" }, /^has "blockHash" together with "fromBlock" or "toBlock"/],
    [{ adress: ADDRESS }, 'has an unknown member "adress". Did you mean "address"?'],
  ])("are refused with the reason: %j", (value, message) => {
    expect(messageOf(logQuery, value)).toMatch(message);
  });
});

it("names the wrong key of overrides", () => {
  expect(messageOf(stateOverrides, { "0x12": {} })).toMatch(/but "0x12" is a key\.$/);
  expect(messageOf(stateOverrides, { [ADDRESS]: { movePrecompileToAddress: "0x1" } })).toMatch(
    /has an invalid "movePrecompileToAddress": it must be an address/,
  );
});
