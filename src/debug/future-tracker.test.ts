import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shownName } from "./creation-place.ts";
import { FutureTracker } from "./future-tracker.ts";

let tracker: FutureTracker;
beforeEach(() => {
  tracker = new FutureTracker();
  tracker.start();
});
afterEach(() => tracker.close());

const named = (procname: string) => tracker.pending().filter((future) => future.procname === procname);

describe("the tracker", () => {
  it("lists a promise from its making until it settles", async () => {
    const { promise: gate, resolve } = Promise.withResolvers<void>();
    async function waitAtTheGate() {
      await gate;
    }
    const waiting = waitAtTheGate();
    const listed = named("waitAtTheGate");
    // The promise of the function, and that of its await.
    expect(listed).toHaveLength(2);
    for (const future of listed) {
      expect(future).toMatchObject({ filename: "src/debug/future-tracker.test.ts", state: "Pending" });
      expect(future.id).toMatch(/^[1-9][0-9]*$/);
      expect(future.line).toBeGreaterThan(0);
    }
    expect(listed[0]!.id).not.toBe(listed[1]!.id);
    resolve();
    await waiting;
    expect(named("waitAtTheGate")).toEqual([]);
  });

  it("forgets a promise that was refused", async () => {
    const { promise: gate, reject } = Promise.withResolvers<void>();
    async function waitForBadNews() {
      await gate;
    }
    const waiting = waitForBadNews();
    expect(named("waitForBadNews")).toHaveLength(2);
    reject(new Error("bad news"));
    await expect(waiting).rejects.toThrow("bad news");
    expect(named("waitForBadNews")).toEqual([]);
  });

  it("knows what a promise waits for", () => {
    function makeGate() {
      return new Promise<void>(() => {});
    }
    function chain(promise: Promise<void>) {
      return promise.then(() => {});
    }
    const gate = makeGate();
    const chained = chain(gate);
    const [made] = named("makeGate");
    const [waiting] = named("chain");
    expect(made?.child_id).toBe("");
    expect(waiting?.child_id).toBe(made?.id);
    expect(chained).not.toBe(gate);
  });

  it("forgets a promise that nobody can settle any more", async () => {
    function makeAndDrop() {
      void new Promise<void>(() => {});
    }
    makeAndDrop();
    expect(named("makeAndDrop")).toHaveLength(1);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    // Node tells of collected promises in a later turn of the event loop.
    while (named("makeAndDrop").length > 0) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it("sees nothing once it is closed", () => {
    tracker.close();
    const late = new Promise<void>(() => {});
    expect(tracker.pending()).toEqual([]);
    expect(late).toBeInstanceOf(Promise);
  });

  it("keeps the first ones when there are more than its limit", () => {
    tracker.close();
    const small = new FutureTracker({ limit: 3 });
    small.start();
    const makers = [1, 2, 3, 4, 5].map((n) => Object.defineProperty(() => new Promise(() => {}), "name", { value: n }));
    const made = makers.map((make) => make());
    const listed = small.pending();
    small.close();
    expect(made).toHaveLength(5);
    expect(listed).toHaveLength(3);
    const ids = listed.map(({ id }) => Number(id));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });

  it("leaves the stacks of errors alone", () => {
    const { prepareStackTrace, stackTraceLimit } = Error;
    void Promise.resolve();
    expect(Error.prepareStackTrace).toBe(prepareStackTrace);
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });
});

describe("the name of a file", () => {
  const project = new URL("../../", import.meta.url);

  it("is relative to the project", () => {
    expect(shownName(new URL("src/api/node.ts", project).href)).toBe("src/api/node.ts");
    expect(shownName(new URL("src/api/node.ts", project).pathname)).toBe("src/api/node.ts");
    expect(shownName(new URL("node_modules/a/b.js", project).href)).toBe("node_modules/a/b.js");
  });

  it("is never an absolute path", () => {
    expect(shownName("file:///elsewhere/node_modules/@a/b/c.js")).toBe("node_modules/@a/b/c.js");
    expect(shownName("/elsewhere/script.js")).toBe("script.js");
    expect(shownName("node:internal/timers")).toBe("node:internal/timers");
  });

  it("is none for the tracker and its hooks", () => {
    expect(shownName(new URL("./future-tracker.ts", import.meta.url).href)).toBeNull();
    expect(shownName("node:internal/async_hooks")).toBeNull();
  });
});
