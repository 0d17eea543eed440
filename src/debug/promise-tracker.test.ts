import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { displayPath } from "./call-site.ts";
import { PromiseTracker } from "./promise-tracker.ts";

let tracker: PromiseTracker;
beforeEach(() => {
  tracker = new PromiseTracker();
  tracker.start();
});
afterEach(() => tracker.close());

const createdBy = (procname: string) => tracker.pending().filter((promise) => promise.procname === procname);

describe("promise tracker", () => {
  it("lists a promise from creation until it settles", async () => {
    const { promise: gate, resolve } = Promise.withResolvers<void>();
    async function awaitGate() {
      await gate;
    }
    const waiting = awaitGate();
    const listed = createdBy("awaitGate");
    // One from the function, one from its await.
    expect(listed).toHaveLength(2);
    for (const promise of listed) {
      expect(promise).toMatchObject({ filename: "src/debug/promise-tracker.test.ts", state: "Pending" });
      expect(promise.id).toMatch(/^[1-9][0-9]*$/);
      expect(promise.line).toBeGreaterThan(0);
    }
    expect(listed[0]!.id).not.toBe(listed[1]!.id);
    resolve();
    await waiting;
    expect(createdBy("awaitGate")).toEqual([]);
  });

  it("forgets a rejected promise", async () => {
    const { promise: gate, reject } = Promise.withResolvers<void>();
    async function awaitRejection() {
      await gate;
    }
    const waiting = awaitRejection();
    expect(createdBy("awaitRejection")).toHaveLength(2);
    reject(new Error("rejected"));
    await expect(waiting).rejects.toThrow("rejected");
    expect(createdBy("awaitRejection")).toEqual([]);
  });

  it("reports which promise another one awaits", () => {
    function makeGate() {
      return new Promise<void>(() => {});
    }
    function chain(promise: Promise<void>) {
      return promise.then(() => {});
    }
    const gate = makeGate();
    const chained = chain(gate);
    const [created] = createdBy("makeGate");
    const [waiting] = createdBy("chain");
    expect(created?.child_id).toBe("");
    expect(waiting?.child_id).toBe(created?.id);
    expect(chained).not.toBe(gate);
  });

  it("forgets a garbage-collected promise", async () => {
    function makeAndDrop() {
      void new Promise<void>(() => {});
    }
    makeAndDrop();
    expect(createdBy("makeAndDrop")).toHaveLength(1);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    // Node reports collected promises in a later turn of the event loop.
    while (createdBy("makeAndDrop").length > 0) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it("tracks nothing after it is closed", () => {
    tracker.close();
    const late = new Promise<void>(() => {});
    expect(tracker.pending()).toEqual([]);
    expect(late).toBeInstanceOf(Promise);
  });

  it("keeps the oldest promises above its limit", () => {
    tracker.close();
    const small = new PromiseTracker({ limit: 3 });
    small.start();
    const makers = [1, 2, 3, 4, 5].map((n) => Object.defineProperty(() => new Promise(() => {}), "name", { value: n }));
    const created = makers.map((make) => make());
    const listed = small.pending();
    small.close();
    expect(created).toHaveLength(5);
    expect(listed).toHaveLength(3);
    const ids = listed.map(({ id }) => Number(id));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });

  it("leaves the stack traces of errors unchanged", () => {
    const { prepareStackTrace, stackTraceLimit } = Error;
    void Promise.resolve();
    expect(Error.prepareStackTrace).toBe(prepareStackTrace);
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });
});

describe("display path", () => {
  const project = new URL("../../", import.meta.url);

  it("is relative to the project", () => {
    expect(displayPath(new URL("src/api/node.ts", project).href)).toBe("src/api/node.ts");
    expect(displayPath(new URL("src/api/node.ts", project).pathname)).toBe("src/api/node.ts");
    expect(displayPath(new URL("node_modules/a/b.js", project).href)).toBe("node_modules/a/b.js");
  });

  it("is never an absolute path", () => {
    expect(displayPath("file:///elsewhere/node_modules/@a/b/c.js")).toBe("node_modules/@a/b/c.js");
    expect(displayPath("/elsewhere/script.js")).toBe("script.js");
    expect(displayPath("node:internal/timers")).toBe("node:internal/timers");
  });

  it("is null for the tracker and its hooks", () => {
    expect(displayPath(new URL("./promise-tracker.ts", import.meta.url).href)).toBeNull();
    expect(displayPath("node:internal/async_hooks")).toBeNull();
  });
});
