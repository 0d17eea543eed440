import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ForkName } from "@lodestar/params";
import { beforeAll, describe, expect, it } from "vitest";
import { abridge } from "../../scripts/methods-doc/abridge.ts";
import { methodsDocument } from "../../scripts/methods-doc/generate.ts";
import { type MadeExample, makeExamples } from "../../scripts/methods-doc/make-examples.ts";
import { INDEX } from "../../scripts/methods-doc/render.ts";
import type { MethodDefinition } from "../../src/api/definition.ts";
import { describeType } from "../../src/api/describe-type.ts";
import { methods } from "../../src/api/method-groups.ts";
import { isServedOn } from "../support/api/examples.ts";

/** Methods that fail on a dev chain without peers and --track-futures. */
const REFUSED: Record<string, number> = { get_v1_node_peers_peerId: -32001, debug_getChronosFutures: -32004 };

const ROOT = join(import.meta.dirname, "../..");

describe("the reference of the methods", () => {
  let examples: Map<string, MadeExample>;
  beforeAll(async () => {
    examples = await makeExamples();
  });

  it("has an example for every method, and for nothing else", () => {
    const names = methods.map(({ name }) => name).toSorted();
    expect([...examples.keys()].toSorted()).toEqual(names);
  });

  it("is the output of npm run docs", () => {
    const { pages } = methodsDocument(examples);
    const isCurrent = readFileSync(join(ROOT, INDEX), "utf8") === pages.get(INDEX);
    expect(isCurrent, `${INDEX} is out of date: run "npm run docs".`).toBe(true);
  });

  it("has calls to paste for every method", () => {
    const text = [...methodsDocument(examples).pages.values()].join("");
    const called = methods.filter(({ needsConnection }) => !needsConnection).map(({ name }) => name);
    expect(called.filter((name) => !new RegExp(`^fanal call ${name}( |$)`, "m").test(text))).toEqual([]);
    expect(called.filter((name) => !text.includes(`"method":"${name}"`))).toEqual([]);
    expect(called.filter((name) => !new RegExp(`await client(\\.|\\[")${name}\\b`).test(text))).toEqual([]);
  });

  it("has its examples in rpc.discover, too", () => {
    const committed = readFileSync(join(ROOT, "src/api/openrpc-examples.json"), "utf8");
    const isCurrent = committed === methodsDocument(examples).calls;
    expect(isCurrent, 'src/api/openrpc-examples.json is out of date: run "npm run docs".').toBe(true);
  });

  it("is not generated if a method has no example", () => {
    const incomplete = new Map([...examples].filter(([name]) => name !== "getChainHead"));
    expect(() => methodsDocument(incomplete)).toThrow("There is no example of getChainHead.");
  });

  it("shows calls that succeed", () => {
    const refused = [...examples].flatMap(([name, { error }]) => (error === undefined ? [] : [[name, error]]));
    const codes = Object.fromEntries(refused.map(([name, error]) => [name, (error as { code: number }).code]));
    // Control of gloas chains is shown on a chain without gloas.
    const shownOn = (method: MethodDefinition) =>
      method.access === "dev" ? [ForkName.phase0, ForkName.fulu] : [ForkName.phase0, ForkName.fulu, ForkName.gloas];
    const notServed = methods.filter(
      (method) => !method.needsEvm && shownOn(method).every((fork) => !isServedOn(method, fork)),
    );
    expect(codes).toEqual({ ...REFUSED, ...Object.fromEntries(notServed.map(({ name }) => [name, -32004])) });
  });
});

describe("abridged JSON", () => {
  it("is the JSON itself when it is short", () => {
    const value = { a: [1, "2", null], b: { c: true }, d: {}, e: [] };
    expect(abridge(value)).toEqual({
      text: '{ "a": [1, "2", null], "b": { "c": true }, "d": {}, "e": [] }',
      isWhole: true,
    });
  });

  it("breaks long lines", () => {
    const value = { first: "x".repeat(60), second: "y".repeat(60) };
    const { text, isWhole } = abridge(value);
    expect(text.split("\n")).toHaveLength(4);
    expect(JSON.parse(text)).toEqual(value);
    expect(isWhole).toBe(true);
  });

  it("truncates long lists, objects and hex, with the omitted length", () => {
    expect(abridge(["a", "b", "c", "d", "e"])).toEqual({ text: '["a", "b", … 3 more]', isWhole: false });
    expect(abridge(`0x${"ab".repeat(48)}`)).toEqual({ text: `"0x${"ab".repeat(10)}…"`, isWhole: false });
    expect(abridge(`0x${"ab".repeat(32)}`).isWhole).toBe(true);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, index]));
    expect(abridge(many).text).toContain("… 20 more");
  });
});

describe("descriptions of types", () => {
  it("show shapes, members, lists and alternatives", () => {
    const root = { $ref: "#/components/schemas/Root" };
    expect(describeType(root)).toBe("Root");
    expect(describeType({ type: "object", properties: { a: root, b: { type: "string" } }, required: ["a"] })).toBe(
      "{ a: Root, b?: string }",
    );
    expect(describeType({ type: "array", items: { anyOf: [root, { type: "null" }] } })).toBe("[Root or null]");
    expect(describeType({ type: "object", additionalProperties: root })).toBe("{ [name]: Root }");
    expect(describeType({ const: true })).toBe("true");
    expect(describeType({})).toBe("any");
  });
});
