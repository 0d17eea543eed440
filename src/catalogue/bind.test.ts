import { describe, expect, it } from "vitest";
import { Failure } from "../failure.ts";
import type { Params } from "../server/method-table.ts";
import { bind } from "./bind.ts";
import { defineEntry, each, optional, required } from "./entry.ts";
import { stateId } from "./params/identifiers.ts";
import { slot } from "./params/integers.ts";

const answer = async () => ({ body: Buffer.from("null") });
const none = defineEntry({ number: 1, name: "none", summary: "", invoke: answer });
const one = defineEntry({
  number: 2,
  name: "one",
  summary: "",
  params: { state_id: required(stateId, "") },
  invoke: answer,
});
const three = defineEntry({
  number: 3,
  name: "three",
  summary: "",
  params: { state_id: required(stateId, ""), from: optional(slot, ""), to: optional(slot, "") },
  invoke: answer,
});
const several = defineEntry({
  number: 5,
  name: "several",
  summary: "",
  params: { state_id: required(stateId, ""), slots: each(slot, "") },
  invoke: answer,
});
const swapped = defineEntry({
  number: 6,
  name: "swapped",
  summary: "",
  params: { state_id: required(stateId, ""), from: optional(slot, "") },
  arrange: (params) => (params[1] === "head" ? [params[1], params[0]] : params),
  invoke: answer,
});

describe("bind", () => {
  it.each([
    [none, [], {}],
    [none, {}, {}],
    [one, ["head"], { state_id: "head" }],
    [one, { state_id: 5 }, { state_id: 5 }],
    [three, ["head"], { state_id: "head" }],
    [three, ["head", null, "3"], { state_id: "head", to: 3 }],
    [three, ["head", null, null], { state_id: "head" }],
    [three, { to: 1, state_id: "7", from: null }, { state_id: 7, to: 1 }],
    [several, ["head", 1], { state_id: "head", slots: [1] }],
    [several, ["head", 1, "2", 3], { state_id: "head", slots: [1, 2, 3] }],
    [several, ["head", [1, 2]], { state_id: "head", slots: [1, 2] }],
    [several, ["head", 1, [2, 3], [], 4], { state_id: "head", slots: [1, 2, 3, 4] }],
    [several, { state_id: "head", slots: [1, 2] }, { state_id: "head", slots: [1, 2] }],
    [swapped, ["head", 1], { state_id: "head", from: 1 }],
    [swapped, [1, "head"], { state_id: "head", from: 1 }],
    [swapped, { from: 1, state_id: "head" }, { state_id: "head", from: 1 }],
  ])("makes arguments of parameters (%#)", (entry, params: Params, args) => {
    expect(bind(entry, params)).toEqual(args);
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
    [several, ["head", []], 'The parameter "slots" must hold at least one item.'],
    [several, { state_id: "head", slots: [] }, 'The parameter "slots" must hold at least one item.'],
    [
      three,
      { state_id: "head", stateId: 1 },
      'three takes the parameters state_id, from (optional), to (optional), but one called "stateId" was given.',
    ],
  ])("says what is wrong with their number and names (%#)", (entry, params: Params, message) => {
    expect(() => bind(entry, params)).toThrow(new Failure("invalid-params", message));
  });

  it("says which parameter has a wrong value", () => {
    expect(() => bind(three, ["head", "x"])).toThrow(/^The parameter "from" must be a slot: .* but "x" was given\.$/);
    expect(() => bind(one, [null])).toThrow(/^The parameter "state_id" must be a state id: .* but null was given\.$/);
  });

  it("says which of several items is wrong", () => {
    expect(() => bind(several, ["head", 1, [2, "x"]])).toThrow(/^Item 2 of the parameter "slots" must be a slot: /);
    expect(() => bind(several, ["head", null])).toThrow(
      /^Item 0 of the parameter "slots" must be .* null was given\.$/,
    );
    expect(() => bind(several, ["head", [[1]]])).toThrow(/^Item 0 of the parameter "slots" must be .* an array was/);
  });

  it("does not take inherited members for parameters", () => {
    const entry = defineEntry({
      number: 4,
      name: "odd",
      summary: "",
      params: { constructor: optional(slot, "") },
      invoke: answer,
    });
    expect(bind(entry, {})).toEqual({});
    expect(() => bind(one, JSON.parse('{"__proto__": 1}'))).toThrow('one called "__proto__" was given');
  });
});
