import type { ChainForkConfig } from "@lodestar/config";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { countTurns } from "../../test/support/time/event-loop.ts";
import { Failure } from "../errors/failure.ts";
import type { Params } from "../server/method-table.ts";
import { bind } from "./bind.ts";
import { defineMethod, each, optional, required } from "./definition.ts";
import { ethAddress, ethBlockId } from "./params/eth.ts";
import { stateId } from "./params/identifiers.ts";
import { root, slot, stringEnum, text } from "./params/scalars.ts";
import { listSchema, paramSchema } from "./params/schema.ts";

const options = {
  summary: "",
  result: { name: "result", schema: {} },
  failures: [],
  cost: "cheap",
  access: "read",
  example: {},
  handler: () => null,
} as const;
const none = defineMethod({ ...options, name: "none" });
const one = defineMethod({ ...options, name: "one", params: { stateId: required(stateId, "") } });
const three = defineMethod({
  ...options,
  name: "three",
  params: { stateId: required(stateId, ""), from: optional(slot, ""), upTo: optional(slot, "", { name: "to" }) },
});
const several = defineMethod({
  ...options,
  name: "several",
  params: { stateId: required(stateId, ""), slots: each(slot, "") },
});
const swapped = defineMethod({
  ...options,
  name: "swapped",
  params: { stateId: required(stateId, ""), from: optional(slot, "") },
  normalizePositional: (params) => (params[1] === "head" ? [params[1], params[0]] : params),
});

const devAdvance = defineMethod({
  ...options,
  name: "advance",
  params: {
    slots: optional(slot, ""),
    until: optional(stringEnum(["finalized"]), ""),
    note: optional(text("a note"), ""),
  },
});
const range = defineMethod({
  ...options,
  name: "range",
  params: { slot: required(slot, ""), root: required(root, "") },
});
const getBalance = defineMethod({
  ...options,
  name: "getBalance",
  params: { address: required(ethAddress, ""), block: optional(ethBlockId, "") },
});

describe("hints for positional parameters", () => {
  const messageOf = (...args: Parameters<typeof bind>): string => {
    try {
      void bind(...args);
    } catch (error) {
      return (error as Failure).message;
    }
    return "";
  };
  const someRoot = `0x${"ab".repeat(32)}`;

  it.each<[Parameters<typeof bind>[0], unknown[], string]>([
    [range, [someRoot, 5], "was given. Swap the two: the order is slot, root."],
    // This is a truncated address rather than a block, even though a block may be a short quantity.
    [getBalance, ["0x123"], 'must be an address: 0x followed by 40 hex digits, but "0x123" was given.'],
    [devAdvance, ["finalized"], 'was given. Did you mean "until"? Pass it by name: {"until": "finalized"}.'],
    // Free text accepts any value, so it is never suggested as what was meant.
    [devAdvance, ["later"], '"later" was given.'],
    [range, [someRoot, "x"], '…" was given.'],
    [range, [5, "x".repeat(100_000)], '…" was given.'],
  ])("tell where a value belongs (%#)", (method, params, ending) => {
    expect(messageOf(method, params).endsWith(ending)).toBe(true);
  });

  it("are not given for parameters by name", () => {
    expect(messageOf(devAdvance, { slots: "finalized" })).toMatch(/"finalized" was given\.$/);
  });
});

describe("bind", () => {
  it.each([
    [none, [], {}],
    [none, {}, {}],
    [one, ["head"], { stateId: "head" }],
    [one, { state_id: 5 }, { stateId: 5 }],
    [three, ["head"], { stateId: "head" }],
    [three, ["head", null, "3"], { stateId: "head", upTo: 3 }],
    [three, ["head", null, null], { stateId: "head" }],
    [three, { to: 1, state_id: "7", from: null }, { stateId: 7, upTo: 1 }],
    [several, ["head", 1], { stateId: "head", slots: [1] }],
    [several, ["head", 1, "2", 3], { stateId: "head", slots: [1, 2, 3] }],
    [several, ["head", [1, 2]], { stateId: "head", slots: [1, 2] }],
    [several, ["head", 1, [2, 3], [], 4], { stateId: "head", slots: [1, 2, 3, 4] }],
    [several, { state_id: "head", slots: [1, 2] }, { stateId: "head", slots: [1, 2] }],
    [several, { state_id: "head", slots: [] }, { stateId: "head", slots: [] }],
    [swapped, ["head", 1], { stateId: "head", from: 1 }],
    [swapped, [1, "head"], { stateId: "head", from: 1 }],
    [swapped, { from: 1, state_id: "head" }, { stateId: "head", from: 1 }],
  ])("converts parameters to arguments (%#)", (method, params: Params, args) => {
    expect(bind(method, params)).toEqual(args);
  });

  it.each([
    [none, [1], "none takes no parameters, but 1 was given."],
    [none, [null], "none takes no parameters, but 1 was given."],
    [none, { x: 1 }, 'none takes no parameters, but one called "x" was given.'],
    [one, [], 'The parameter "state_id" is missing: one takes the parameter state_id.'],
    [one, {}, 'The parameter "state_id" is missing: one takes the parameter state_id.'],
    [one, ["head", null], "one takes the parameter state_id, but 2 were given."],
    [
      several,
      ["head"],
      'The parameter "slots" is missing: several takes the parameters state_id, slots (one or more).',
    ],
    [several, ["head", []], 'The parameter "slots" needs at least one item.'],
    [
      three,
      { state_id: "head", stateId: 1 },
      'three takes the parameters state_id, from (optional), to (optional), but one called "stateId" was given.',
    ],
  ])("rejects a wrong number or unknown names (%#)", (method, params: Params, message) => {
    expect(() => bind(method, params)).toThrow(new Failure("invalid-params", message));
  });

  it("includes the name of an invalid parameter", () => {
    expect(() => bind(three, ["head", "x"])).toThrow(/^The parameter "from" must be a slot: .* but "x" was given\.$/);
    expect(() => bind(one, [null])).toThrow(/^The parameter "state_id" must be a state id: .* but null was given\.$/);
  });

  it("includes the position of an invalid item", () => {
    expect(() => bind(several, ["head", 1, [2, "x"]])).toThrow(/^Item 2 of the parameter "slots" must be a slot: /);
    expect(() => bind(several, ["head", null])).toThrow(
      /^Item 0 of the parameter "slots" must be .* null was given\.$/,
    );
    expect(() => bind(several, ["head", [[1]]])).toThrow(/^Item 0 of the parameter "slots" must be .* an array was/);
  });

  it("parses a long list in time slices, with the same errors as for a short one", async () => {
    let now = 0;
    // Each time the clock is read, it advances by a millisecond.
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now++);
    onTestFinished(() => clock.mockRestore());
    const turn = countTurns();
    const readInTurn: number[] = [];
    const counted = paramSchema("a number", {}, (value) => {
      readInTurn[turn()] = (readInTurn[turn()] ?? 0) + 1;
      return typeof value === "number" ? value : undefined;
    });
    const elements = {
      noun: "numbers",
      form: z.unknown(),
      forConfig: () => listSchema(z.unknown(), "numbers", counted),
    };
    const inArray = defineMethod({ ...options, name: "in_array", params: { numbers: required(elements, "") } });
    const spread = defineMethod({ ...options, name: "spread", params: { numbers: each(counted, "") } });
    const params = inArray.params.map((param) => ({ ...param, schema: param.schemaFor!({} as ChainForkConfig) }));
    const list = Array.from({ length: 500 }, (_, index) => index);
    for (const signature of [{ ...inArray, params }, spread]) {
      readInTurn.length = 0;
      expect(await bind(signature, { numbers: list })).toEqual({ numbers: list });
      expect(Math.max(...readInTurn.filter((count) => count !== undefined))).toBeLessThanOrEqual(16);
    }
    const wrong = list.with(400, "x" as never);
    await expect(bind({ ...inArray, params }, [wrong])).rejects.toThrow(
      'The parameter "numbers" has an invalid element at position 400: it must be a number, but "x" was given.',
    );
    await expect(bind(spread, wrong)).rejects.toThrow('Item 400 of the parameter "numbers" must be a number');
  });

  it("ignores inherited members", () => {
    const odd = defineMethod({ ...options, name: "odd", params: { constructor: optional(slot, "") } });
    expect(bind(odd, {})).toEqual({});
    expect(() => bind(one, JSON.parse('{"__proto__": 1}'))).toThrow('one called "__proto__" was given');
  });
});
