import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { LineWriter } from "./line-writer.ts";
import { RotatingFile } from "./rotating-file.ts";

/** Creates a sink that accepts `room` bytes in total. */
function fakeSink(room: number) {
  const sink = {
    room,
    text: "",
    failure: undefined as Error | undefined,
    write(bytes: Uint8Array): number {
      if (sink.failure) throw sink.failure;
      const taken = Math.min(bytes.length, sink.room);
      sink.room -= taken;
      sink.text += Buffer.from(bytes.subarray(0, taken)).toString();
      return taken;
    },
  };
  return sink;
}

describe("line writer", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("buffers bytes that the sink does not accept, and writes them in order later", () => {
    const sink = fakeSink(4);
    const writer = new LineWriter(sink, () => {});
    for (const record of ["one\n", "two\n", "thrée\n"]) writer.write(record);
    expect(sink.text).toBe("one\n");
    sink.room = 5;
    vi.advanceTimersByTime(1000);
    sink.room = 100;
    vi.advanceTimersByTime(1000);
    expect(sink.text).toBe("one\ntwo\nthrée\n");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("drops records beyond the buffer limit, and reports the count when the sink accepts data again", () => {
    const sink = fakeSink(0);
    const writer = new LineWriter(sink, (dropped) => writer.write(`${dropped} dropped\n`));
    const record = `${"x".repeat(1023)}\n`;
    for (let count = 0; count < 3000; count++) writer.write(record);
    sink.room = Number.POSITIVE_INFINITY;
    vi.advanceTimersByTime(1000);
    expect(sink.text).toBe(`${record.repeat(1024)}1976 dropped\n`);
    writer.write("after\n");
    expect(sink.text.endsWith("dropped\nafter\n")).toBe(true);
  });

  it("counts the records that a failing sink lost", () => {
    const sink = fakeSink(Number.POSITIVE_INFINITY);
    const reported: number[] = [];
    const writer = new LineWriter(sink, (dropped) => reported.push(dropped));
    sink.failure = new Error("no space left on device");
    writer.write("lost\n");
    writer.write("lost as well\n");
    expect(reported).toEqual([]);
    sink.failure = undefined;
    writer.write("there\n");
    expect([sink.text, reported]).toEqual(["there\n", [2]]);
  });

  it("flushes the buffer", () => {
    const sink = fakeSink(0);
    const writer = new LineWriter(sink, () => {});
    writer.write("last words\n");
    sink.room = 100;
    writer.flush();
    expect(sink.text).toBe("last words\n");
  });
});

describe("rotating file", () => {
  function fileOf(count: number, maxBytes = 10) {
    const folder = mkdtempSync(join(tmpdir(), "fanal-log-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "node.log");
    const open = () => new RotatingFile({ path, maxBytes, count });
    const contents = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
    return { path, open, contents };
  }

  it("rotates full files, keeps the configured number, and makes them readable by the owner only", () => {
    const { path, open, contents } = fileOf(3);
    const file = open();
    for (const record of ["first 1\n", "second\n", "3\n", "fourth\n", "fifth..\n"]) file.write(Buffer.from(record));
    expect(contents()).toEqual([
      ["node.log", "fifth..\n"],
      ["node.log.1", "fourth\n"],
      ["node.log.2", "second\n3\n"],
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("appends to an existing file, and accepts a record larger than the file limit", () => {
    const { open, contents } = fileOf(1);
    open().write(Buffer.from("one\n"));
    open().write(Buffer.from("two\n"));
    expect(contents()).toEqual([["node.log", "one\ntwo\n"]]);
    open().write(Buffer.from("longer than ten bytes\n"));
    expect(contents()).toEqual([["node.log", "longer than ten bytes\n"]]);
  });
});
