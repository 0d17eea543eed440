import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { generateClientTypes } from "../../scripts/client-types/generate.ts";
import { type TypeUse, typeText } from "../../scripts/client-types/type-text.ts";
import type { JsonSchema } from "../api/schemas.ts";

const INPUT: TypeUse = { isInput: true };
const EXECUTION_INPUT: TypeUse = { isInput: true, isExecution: true };
const FORK_RESULT: TypeUse = { forkTypes: new Set(["BeaconBlock"]) };
const BLOCK = { $ref: "#/components/schemas/BeaconBlock" };

it("has the methods, parameters and results of the definitions", () => {
  for (const { path, text } of generateClientTypes()) {
    const committed = readFileSync(join(import.meta.dirname, "..", "..", path), "utf8");
    expect(committed, `${path} is out of date: run "npm run docs".`).toBe(text);
  }
});

it.each<[schema: object, type: string, use?: TypeUse]>([
  [{ $ref: "#/components/schemas/Root" }, "Root"],
  [BLOCK, "BeaconBlock<F>", FORK_RESULT],
  [
    { type: "object", properties: { version: { type: "string" }, data: BLOCK } },
    'Versioned<"BeaconBlock", F>',
    FORK_RESULT,
  ],
  [{ anyOf: [{ type: "string" }, { type: "integer" }, { type: "string" }] }, "string | number"],
  [{ oneOf: [{ type: "boolean" }, { type: "null" }] }, "boolean | null"],
  [
    { anyOf: [{ type: "string", pattern: "^(0|[1-9][0-9]*)$" }, { type: "integer" }] },
    "string | number | bigint",
    INPUT,
  ],
  [{ type: "string", pattern: "^(head|0x[0-9a-f]{64})$" }, '"head" | AnyString', INPUT],
  [{ type: "string", pattern: "^0x[0-9a-f]{64}$" }, "Hex"],
  [{ type: "string", pattern: "^0x[0-9a-fA-F]{1,64}$" }, "Hex | bigint", EXECUTION_INPUT],
  [{ enum: ["a", "b"] }, '"a" | "b"'],
  [{ type: "boolean", const: true }, "true"],
  [{ type: "array", items: { anyOf: [{ type: "null" }, { type: "number" }] } }, "Array<null | number>"],
  [{ type: "array", items: { type: "integer" } }, "ReadonlyArray<number | bigint>", INPUT],
  [{ type: "object", additionalProperties: { type: "string" } }, "Record<string, string>"],
  [{ type: "object" }, "object"],
  [{}, "unknown"],
])("converts the schema %j to a type", (schema, type, use) => {
  expect(typeText(schema as JsonSchema, use)).toBe(type);
});

it("generates required and optional members with their comments", () => {
  const schema = {
    type: "object",
    properties: { slot: { type: "string", description: "When." }, root: { type: "string" } },
    required: ["root"],
  };
  expect(typeText(schema).replaceAll(/\s+/g, " ")).toBe('{ /** When. */ "slot"?: string; "root": string; }');
});
