import { describe, expect, it } from "vitest";
import { methods } from "../../api/method-groups.ts";
import { type JsonSchema, list, NAMED_SCHEMAS, object, shape } from "../../api/schemas.ts";
import { operationsOf } from "./operations.ts";
import { findSchemaViolation, KEYWORDS } from "./schema-check.ts";

/** Yields the keywords of a schema and its subschemas. */
function* keywordsOf(schema: JsonSchema): Generator<string> {
  for (const [keyword, argument] of Object.entries(schema)) {
    yield keyword;
    if (keyword === "properties") for (const member of Object.values(argument as object)) yield* keywordsOf(member);
    if (keyword === "anyOf" || keyword === "oneOf")
      for (const form of argument as JsonSchema[]) yield* keywordsOf(form);
    if (keyword === "items" || keyword === "not" || keyword === "additionalProperties") {
      yield* keywordsOf(argument as JsonSchema);
    }
  }
}

describe("a schema check", () => {
  it("supports all keywords of the method definitions", () => {
    const schemas = [
      ...operationsOf(methods).map(({ method }) => method.result.schema),
      ...Object.values(NAMED_SCHEMAS),
    ];
    const used = new Set(schemas.flatMap((schema) => [...keywordsOf(schema)]));
    used.delete("description");
    expect([...used].filter((keyword) => !(keyword in KEYWORDS))).toEqual([]);
    expect(() => findSchemaViolation(1, { multipleOf: 2 })).toThrow("multipleOf");
  });

  const checkpoint = { epoch: "3", root: `0x${"ab".repeat(32)}` };
  const attestation = {
    aggregation_bits: "0x01",
    data: { slot: "1", index: "0", beacon_block_root: checkpoint.root, source: checkpoint, target: checkpoint },
    signature: `0x${"cd".repeat(96)}`,
  };
  const cases: [what: string, value: unknown, schema: JsonSchema, violation: string | undefined][] = [
    ["a checkpoint with a member that is new", { ...checkpoint, more: 1 }, shape("Checkpoint"), undefined],
    [
      "a number in place of a text",
      { ...checkpoint, epoch: 3 },
      shape("Checkpoint"),
      "data.epoch is not of type string",
    ],
    ["a root that is too short", { ...checkpoint, root: "0xab" }, shape("Checkpoint"), "data.root does not match"],
    ["a member that is missing", { epoch: "3" }, shape("Checkpoint"), "data.root is missing"],
    ["something else altogether", null, shape("Checkpoint"), "data is not of type object"],
    ["the second of a list", [checkpoint, {}], list(shape("Checkpoint")), "data[1].epoch is missing"],
    [
      "a list in an object",
      { all: [1] },
      object({ all: list({ type: "string" }) }),
      "data.all[0] is not of type string",
    ],
    ["a word that is none of those", "sleeping", { type: "string", enum: ["awake"] }, "data is none of awake"],
    ["an attestation of phase0", attestation, shape("Attestation"), undefined],
    ["an attestation of electra", { ...attestation, committee_bits: "0x01" }, shape("Attestation"), undefined],
    [
      "an attestation of no fork",
      { ...attestation, data: { ...attestation.data, target: {} } },
      shape("Attestation"),
      "data.data.target.epoch is missing",
    ],
  ];
  for (const [what, value, schema, violation] of cases) {
    it(`is judged: ${what}`, () => {
      const judged = findSchemaViolation(value, schema);
      if (violation === undefined) expect(judged).toBeUndefined();
      else expect(judged).toContain(violation);
    });
  }
});
