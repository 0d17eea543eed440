import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { generateClientTypes } from "../../scripts/client-types/generate.ts";
import { typeText } from "../../scripts/client-types/type-text.ts";

it("has the methods, parameters and results of the definitions", () => {
  const { path, text } = generateClientTypes();
  const committed = readFileSync(join(import.meta.dirname, "..", "..", path), "utf8");
  expect(committed, `${path} is out of date: run "npm run docs".`).toBe(text);
});

it.each([
  [{ $ref: "#/components/schemas/Root" }, "Root"],
  [{ anyOf: [{ type: "string" }, { type: "integer" }, { type: "string" }] }, "string | number"],
  [{ enum: ["a", "b"] }, '"a" | "b"'],
  [{ type: "boolean", const: true }, "true"],
  [{ type: "array", items: { anyOf: [{ type: "null" }, { type: "number" }] } }, "Array<null | number>"],
  [{ type: "object", additionalProperties: { type: "string" } }, "Record<string, string>"],
  [{ type: "object" }, "object"],
  [{}, "unknown"],
])("makes of the schema %j a type", (schema, type) => {
  expect(typeText(schema)).toBe(type);
});

it("generates required and optional members with their comments", () => {
  const schema = {
    type: "object",
    properties: { slot: { type: "string", description: "When." }, root: { type: "string" } },
    required: ["root"],
  };
  expect(typeText(schema).replaceAll(/\s+/g, " ")).toBe('{ /** When. */ "slot"?: string; "root": string; }');
});
