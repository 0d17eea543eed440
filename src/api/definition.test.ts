import { describe, expect, it } from "vitest";
import { defineAlias, defineMethod, defineOperation, get, optional, post, required } from "./definition.ts";
import { stateId } from "./params/identifiers.ts";
import { epoch } from "./params/scalars.ts";

const definition = {
  name: "example",
  summary: "An example.",
  result: { name: "result", schema: {} },
  failures: [],
  cost: "cheap",
  access: "read",
  example: {},
} as const;

describe("a definition", () => {
  it("derives parameter names from keys in snake_case, unless given", () => {
    const { params, restParams } = defineMethod({
      ...definition,
      params: {
        stateId: required(stateId, "Which."),
        untilEpoch: optional(epoch, "When.", { name: "until" }),
        sinceEpoch: optional(epoch, "Since when.", { only: "rest" }),
        atEpoch: optional(epoch, "At what time.", { only: "json-rpc" }),
      },
      handler: () => null,
    });
    expect(params.map(({ key, name }) => [key, name])).toEqual([
      ["stateId", "state_id"],
      ["untilEpoch", "until"],
      ["atEpoch", "at_epoch"],
    ]);
    expect(restParams.map(({ name }) => name)).toEqual(["state_id", "until", "since_epoch"]);
  });
});

it("an alias has no paths, aliases or operation, and the codec of the original", () => {
  const handler = async () => ({ data: { version: "1" } });
  const first = defineOperation("node.getNodeVersion", {
    ...definition,
    aliases: ["sample"],
    rest: [get("/one"), post("/two")],
    handler,
  });
  const second = defineAlias(first, { number: 7, name: "specimen", summary: "A specimen." });
  expect(second).toMatchObject({ number: 7, name: "specimen", sameAs: "example", aliases: [], rest: [] });
  expect(second.operation).toBeUndefined();
  expect(second.codec).toBeDefined();
  expect(second.handler).toBe(handler);
});
