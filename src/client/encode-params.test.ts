import { expect, it } from "vitest";
import { isExecutionMethod, stringifyFor } from "./encode-params.ts";

it.each([
  ["dev_advance", { slots: 4n }, '{"slots":4}'],
  ["getStateProof", { path: ["balances", 3n] }, '{"path":["balances",3]}'],
  [
    "get_v3_validator_blocks_slot",
    { builder_boost_factor: 2n ** 64n - 1n },
    '{"builder_boost_factor":"18446744073709551615"}',
  ],
  ["eth_call", { call: { value: 255n } }, '{"call":{"value":"0xff"}}'],
  ["anvil_setBalance", { balance: 2n ** 64n }, '{"balance":"0x10000000000000000"}'],
  ["dev_advance", { slots: 4 }, '{"slots":4}'],
])("serializes bigints of %s as the method takes them", (method, params, text) => {
  expect(stringifyFor(method, params)).toBe(text);
});

it("rejects numbers that JSON does not have", () => {
  const call = () => stringifyFor("getStateProof", { params: { path: ["balances", Number.NaN] } });
  expect(call).toThrow('The parameter "1" of getStateProof must be a finite number, got NaN.');
});

it("tells methods of the execution layer from those of the beacon node", () => {
  const names = ["eth_call", "evm_mine", "debug_traceCall", "debug_getGossipSubPeers", "getEth1Chain", "dev_snapshot"];
  expect(names.filter(isExecutionMethod)).toEqual(["eth_call", "evm_mine", "debug_traceCall"]);
});
