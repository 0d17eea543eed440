import { describe, expect, it } from "vitest";
import { pageOf } from "../../src/web/json-links.ts";
import { exampleFor, exampleText, inputOf } from "../../src/web/method-inputs.ts";

const ROOT = `0x${"ab".repeat(32)}`;
const PUBKEY = `0x${"cd".repeat(48)}`;

describe("the control of a parameter", () => {
  it.each([
    [{ type: "string", enum: ["a", "b"] }, "select", ["a", "b"]],
    [{ type: "boolean" }, "select", ["true", "false"]],
    [{ type: "array", items: { enum: ["a"] } }, "checkboxes", ["a"]],
    [{ anyOf: [{ type: "string", enum: ["latest"] }, { type: "integer" }] }, "text", ["latest"]],
    [{ anyOf: [{ type: "string", pattern: "^(head|genesis|0x[0-9a-f]{64}|0)$" }] }, "text", ["head", "genesis"]],
    [{ type: "string", pattern: "^(0|[1-9][0-9]*)$" }, "text", []],
    [{ type: "array", items: { type: "string" } }, "area", []],
    [{ type: "object" }, "area", []],
  ])("%j", (schema, kind, options) => {
    expect(inputOf(schema)).toEqual({ kind, options });
  });
});

it("replaces recorded examples by values of the chain", () => {
  const position = { slot: 80, epoch: 10, headRoot: ROOT };
  const other = `0x${"11".repeat(32)}`;
  const example = (name: string, recorded: unknown, method = "m") => exampleFor(method, name, recorded, position);
  expect(example("slot", "41")).toBe("80");
  expect(example("epoch", "5")).toBe("10");
  expect(example("epoch", "3", "post_v1_beacon_rewards_attestations_epoch")).toBe("8");
  expect(example("block_id", other)).toBe("head");
  expect(example("state_id", "finalized")).toBe("finalized");
  expect(example("block_root", other)).toBe(ROOT);
  expect(example("attestation_data_root", other)).toBe(other);
  expect(example("validator_id", PUBKEY)).toBe("0");
  expect(example("validators", [PUBKEY, "1"])).toEqual(["0"]);
  // A storage slot.
  expect(example("slot", "0x0")).toBe("0x0");
});

it("quotes an example only where its type is ambiguous", () => {
  const number = { anyOf: [{ type: "string" }, { type: "integer" }] };
  expect(exampleText("41", number)).toBe("41");
  expect(exampleText("41", { type: "object" })).toBe('"41"');
  expect(exampleText(["0"], { type: "array" })).toBe('["0"]');
});

describe("links of a response", () => {
  const page = (value: unknown, name: string, more = {}) =>
    pageOf(value, { name, isListItem: false, siblings: {}, rootOf: "block", ...more });

  it("lead to blocks, states, epochs and validators", () => {
    expect(page(ROOT, "root")).toBe(`#/block/${ROOT}`);
    expect(page(ROOT, "root", { rootOf: "state" })).toBe(`#/state/${ROOT}`);
    expect(page(ROOT, "head_block_root")).toBe(`#/block/${ROOT}`);
    expect(page(ROOT, "state_root")).toBe(`#/state/${ROOT}`);
    expect(page("12", "head_slot")).toBe("#/block/12");
    expect(page("3", "epoch")).toBe("#/epoch/3");
    expect(page("7", "proposer_index")).toBe("#/validator/7");
    expect(page("7", "index", { siblings: { balance: "1" } })).toBe("#/validator/7");
    expect(page("7", "validators", { isListItem: true })).toBe("#/validator/7");
    expect(page(PUBKEY, "pubkey")).toBe(`#/validator/${PUBKEY}`);
  });

  it("lead to execution blocks, transactions and accounts", () => {
    const address = `0x${"ef".repeat(20)}`;
    expect(page(ROOT, "blockHash")).toBe(`#/execution-block/${ROOT}`);
    expect(page(ROOT, "hash", { siblings: { transactionsRoot: "0x", nonce: "0x" } })).toBe(`#/execution-block/${ROOT}`);
    expect(page(ROOT, "hash", { siblings: { nonce: "0x0" } })).toBe(`#/transaction/${ROOT}`);
    expect(page(ROOT, "transactionHash")).toBe(`#/transaction/${ROOT}`);
    expect(page(address, "from")).toBe(`#/account/${address}`);
    expect(page(address, "withdrawal_address")).toBeUndefined();
  });

  it("are made only for values with a page", () => {
    expect(page(ROOT, "body_root")).toBeUndefined();
    expect(page("18446744073709551615", "exit_epoch")).toBeUndefined();
    expect(page(1, "current_epoch")).toBeUndefined();
    expect(page("0", "index")).toBeUndefined();
    expect(page("head", "slot")).toBeUndefined();
  });
});
