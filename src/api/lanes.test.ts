import { describe, expect, it } from "vitest";
import { SharedStream } from "../json/shared-stream.ts";
import { DEFAULT_CALL_LIMITS, Lanes } from "./lanes.ts";

const waitingFor = (controller: AbortController) => ({ signal: controller.signal });

/** Work that ends when the test tells it to. */
function gated() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  return {
    get begun() {
      return begun;
    },
    finish: resolve,
    work: async () => {
      begun++;
      await promise;
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("lanes", () => {
  const limits = { ...DEFAULT_CALL_LIMITS, heavy: { running: 2, waiting: 3 } };

  it("limit concurrency, keep the order and reject calls beyond the queue limit", async () => {
    const lanes = new Lanes(limits);
    const gate = gated();
    const calls = Array.from({ length: 5 }, () => lanes.run("heavy", undefined, gate.work));
    await expect(lanes.run("heavy", undefined, gate.work)).rejects.toMatchObject({ kind: "overloaded" });
    expect(lanes.load.heavy).toEqual({ running: 2, waiting: 3, rejected: 1 });
    expect(gate.begun).toBe(2);
    gate.finish();
    await Promise.all(calls);
    expect(gate.begun).toBe(5);
    expect(lanes.load.heavy).toEqual({ running: 0, waiting: 0, rejected: 1 });
  });

  it("do not queue duties and cheap calls behind heavy ones", async () => {
    const lanes = new Lanes(limits);
    const gate = gated();
    const calls = Array.from({ length: 5 }, () => lanes.run("state", undefined, gate.work));
    expect(await lanes.run("duty", undefined, async () => "duty")).toBe("duty");
    expect(await lanes.run("cheap", undefined, async () => "cheap")).toBe("cheap");
    expect(gate.begun).toBe(2);
    gate.finish();
    await Promise.all(calls);
  });

  it("drop cancelled calls from the queue", async () => {
    const lanes = new Lanes(limits);
    const gate = gated();
    const running = [1, 2].map(() => lanes.run("heavy", undefined, gate.work));
    const leaving = new AbortController();
    const left = [1, 2, 3].map(() => lanes.run("heavy", waitingFor(leaving), gate.work));
    const outcomes = Promise.allSettled(left);
    leaving.abort(new Error("left"));
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    const stays = lanes.run("heavy", undefined, gate.work);
    await expect(lanes.run("heavy", waitingFor(leaving), gate.work)).rejects.toThrow("left");
    gate.finish();
    await Promise.all([...running, stays]);
    expect(gate.begun).toBe(3);
  });

  it("continue after failed work", async () => {
    const lanes = new Lanes({ ...limits, heavy: { running: 1, waiting: 1 } });
    const fails = lanes.run("heavy", undefined, () => Promise.reject(new Error("broken")));
    const next = lanes.run("heavy", undefined, async () => "done");
    await expect(fails).rejects.toThrow("broken");
    expect(await next).toBe("done");
  });
});

describe("streams", () => {
  async function* bytes() {
    yield Buffer.from("a");
    yield Buffer.from("b");
  }

  it("count until they end, are closed or fail", async () => {
    const lanes = new Lanes({ ...DEFAULT_CALL_LIMITS, streams: 3 });
    const [read, left] = [lanes.stream(bytes()), lanes.stream(bytes())];
    const broken = lanes.stream(
      // biome-ignore lint/correctness/useYield: fails before the first yield.
      (async function* () {
        throw new Error("broken");
      })(),
    );
    expect(() => lanes.stream(bytes())).toThrow("limit of 3 large responses");
    for await (const _ of read);
    await left[Symbol.asyncIterator]().return?.();
    await expect(broken[Symbol.asyncIterator]().next()).rejects.toThrow("broken");
    await turn();
    expect(lanes.load.streams).toBe(0);
  });

  it("stay shared with other threads, and count until they end", () => {
    const lanes = new Lanes();
    const shared = SharedStream.of({ writer: "balances", input: { balanceChunks: [] } });
    expect(lanes.stream(shared)).toBe(shared);
    expect(lanes.load.streams).toBe(1);
    shared.release();
    expect(lanes.load.streams).toBe(0);
  });
});
