import { describe, expect, it } from "vitest";
import { OperationalError } from "../errors/operational-error.ts";
import { LogSpecError } from "./log-spec.ts";
import { LOG_LEVELS } from "./logger.ts";
import { createLogger, type LogFormat } from "./pino-logger.ts";

function capture(spec: string, format: LogFormat = "json") {
  const lines: string[] = [];
  const control = createLogger({
    format,
    spec,
    destination: { write: (line) => lines.push(line) },
    now: () => new Date("2026-11-15T12:00:00.123Z"),
  });
  const records = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...control, lines, records, messages: () => records().map((record) => record.msg) };
}

describe("logger", () => {
  it("writes one JSON object per record", () => {
    const { logger, records, lines } = capture("INFO");
    logger.topic("chain").notice("Finalized", { epoch: 3, root: new Uint8Array([1, 2]), far: 2n ** 64n - 1n });
    expect(records()).toEqual([
      {
        level: "notice",
        time: "2026-11-15T12:00:00.123Z",
        topic: "chain",
        epoch: 3,
        root: "0x0102",
        far: "18446744073709551615",
        msg: "Finalized",
      },
    ]);
    expect(lines[0]?.endsWith("\n")).toBe(true);
  });

  it("writes errors with their stack trace, and prefixes fields that collide with keys of the record", () => {
    const { logger, records } = capture("INFO");
    logger.error("Failed", { error: new TypeError("no"), topic: "beacon_block", level: 7 });
    expect(records()[0]).toMatchObject({
      level: "error",
      topic: "node",
      _topic: "beacon_block",
      _level: 7,
      error: { type: "TypeError", message: "no", stack: expect.stringContaining("TypeError: no\n") },
    });
    logger.warn("Failed", { error: new OperationalError("Unavailable.") });
    expect(records()[1]!.error).toEqual({ type: "Error", message: "Unavailable." });
  });

  it("writes records at or above the level", () => {
    const { logger, messages } = capture("NOTICE");
    for (const level of LOG_LEVELS) logger[level](level);
    expect(messages()).toEqual(["notice", "warn", "error", "fatal"]);
  });

  it("does not read the fields of a suppressed record", () => {
    const { logger, lines } = capture("INFO");
    const fields = {
      get costly(): string {
        throw new Error("The field was read.");
      },
    };
    logger.debug("Hidden", fields);
    expect(lines).toEqual([]);
    expect(() => logger.info("Shown", fields)).toThrow("The field was read.");
  });

  it("applies a new specification to existing loggers", () => {
    const { logger, setSpec, messages } = capture("INFO");
    const chain = logger.topic("chain");
    chain.debug("one");
    setSpec("INFO; DEBUG:chain");
    chain.debug("two");
    logger.debug("three");
    setSpec("INFO; DISABLED:chain");
    chain.fatal("four");
    logger.info("five");
    expect(messages()).toEqual(["two", "five"]);
  });

  it("applies the specification to loggers created later", () => {
    const { logger, messages } = capture("INFO; TRACE:sync");
    logger.topic("sync").trace("one");
    logger.topic("rpc").trace("two");
    expect(messages()).toEqual(["one"]);
  });

  it("keeps the filter when the specification is malformed", () => {
    const { logger, setSpec, messages } = capture("DEBUG");
    expect(() => setSpec("ERROR; LOUD:chain")).toThrow(LogSpecError);
    logger.debug("still here");
    expect(messages()).toEqual(["still here"]);
  });

  it("rejects a malformed specification at creation", () => {
    expect(() => capture("LOUD")).toThrow(LogSpecError);
  });

  it("writes the text format without colour to a destination that is not a terminal", () => {
    const { logger, lines } = capture("INFO", "text");
    logger.topic("rpc").info("Listening", { port: 9190 });
    expect(lines).toEqual(["2026-11-15 12:00:00.123 INFO  rpc    Listening  port=9190\n"]);
  });
});
