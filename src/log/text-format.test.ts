import { describe, expect, it } from "vitest";
import { OperationalError } from "../errors/operational-error.ts";
import { formatText, type LogRecord } from "./text-format.ts";

const record = (change: Partial<LogRecord> = {}): LogRecord => ({
  time: new Date("2026-11-15T12:00:00.123Z"),
  level: "info",
  topic: "chain",
  message: "Block imported",
  fields: undefined,
  ...change,
});

describe("text format", () => {
  it("writes time, level, topic, message and fields on one line", () => {
    const line = formatText(record({ fields: { slot: 12, root: "0xabcd" } }), false);
    expect(line).toBe("2026-11-15 12:00:00.123 INFO  chain  Block imported  slot=12 root=0xabcd\n");
  });

  it("omits fields if there are none", () => {
    expect(formatText(record({ level: "error" }), false)).toBe("2026-11-15 12:00:00.123 ERROR chain  Block imported\n");
  });

  it("omits undefined fields", () => {
    expect(formatText(record({ fields: { slot: undefined, epoch: 1 } }), false)).toContain("imported  epoch=1\n");
  });

  const values: [value: unknown, text: string][] = [
    ["two words", '"two words"'],
    ["", '""'],
    ['a"b', '"a\\"b"'],
    ["a=b", '"a=b"'],
    [18446744073709551615n, "18446744073709551615"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    [new Uint8Array([1, 255]), "0x01ff"],
    [null, "null"],
    [false, "false"],
    [{ a: 1n, b: [new Uint8Array([2])] }, '{"a":"1","b":["0x02"]}'],
    [new Map([["x", new Set([1])]]), '{"x":[1]}'],
  ];
  for (const [value, text] of values) {
    it(`writes a field as ${text}`, () => {
      expect(formatText(record({ fields: { value } }), false)).toContain(`  value=${text}\n`);
    });
  }

  it("limits the depth of circular objects", () => {
    const self: Record<string, unknown> = {};
    self.self = self;
    expect(formatText(record({ fields: { self } }), false)).toContain('"self":"…"}');
  });

  it("escapes line breaks and terminal escape sequences", () => {
    const hostile = "x\n2026 FATAL\u001b[2J\u2028";
    const line = formatText(record({ message: hostile, fields: { agent: hostile } }), false);
    expect(line.match(/\n/g)).toHaveLength(1);
    expect(line).not.toContain("\u001b");
    expect(line).toContain("x\\n2026 FATAL\\u001b[2J\\u2028  agent=");
  });

  it("writes the stack traces of an error and its cause after the line", () => {
    const error = new Error("it broke", { cause: new TypeError("the reason") });
    const lines = formatText(record({ fields: { error, slot: 3 } }), false).split("\n");
    expect(lines[0]).toContain('  error="it broke" slot=3');
    expect(lines[1]).toBe("    Error: it broke");
    expect(lines[2]).toMatch(/^ {8}at /);
    expect(lines).toContain("    Caused by: TypeError: the reason");
  });

  it("writes only the message of an operational error", () => {
    const error = new OperationalError("not available", { cause: new TypeError("the reason") });
    expect(formatText(record({ fields: { error } }), false)).toMatch(/ {2}error="not available"\n$/);
  });

  it("uses colours only if enabled", () => {
    expect(formatText(record(), true)).toContain("\u001b[32mINFO \u001b[0m");
    expect(formatText(record(), false)).not.toContain("\u001b");
  });
});
