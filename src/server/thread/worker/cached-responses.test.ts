import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { TestServers } from "../../../../test/support/server/thread/test-servers.ts";

const servers = new TestServers();
const { api, call, fetch } = servers;
beforeAll(() => {
  // Prewarming has a time budget, which runs out while a busy machine runs something else.
  vi.spyOn(performance, "now").mockReturnValue(performance.now());
  return servers.start();
});
afterAll(() => {
  vi.restoreAllMocks();
  return servers.close();
});

it("caches responses while their revision is unchanged", async () => {
  const callsBefore = api.cacheableCalls;
  expect([(await call("head")).result, (await call("head")).result]).toEqual(["a", "a"]);
  expect(api.cacheableCalls).toBe(callsBefore + 1);
  // There is no cache policy for these parameters.
  await call("head", [1, 2]);
  await call("head", [1, 2]);
  expect(api.cacheableCalls).toBe(callsBefore + 3);
  api.values.head = "b";
  api.revision.raise();
  expect([(await call("head")).result, (await call("head")).result]).toEqual(["b", "b"]);
});

it("caches status responses until the status changes, for both servers", async () => {
  const read = async () => [(await call("status")).result, JSON.parse((await fetch("/status/cached")).text).data];
  expect(await read()).toEqual(["well", "well"]);
  await call("head");
  const callsBefore = api.cacheableCalls;
  expect(await read()).toEqual(["well", "well"]);
  await call("head");
  expect(api.cacheableCalls).toBe(callsBefore);
  api.values.status = "ill";
  api.revision.raiseStatus();
  expect([...(await read()), ...(await read())]).toEqual(["ill", "ill", "ill", "ill"]);
  const callsAfter = api.cacheableCalls;
  // Responses that depend only on the head remain cached.
  await call("head");
  expect(api.cacheableCalls).toBe(callsAfter);
  await fetch("/status/other");
  await fetch("/status/other");
  await fetch("/status/cached", { headers: { "If-None-Match": '"another"' } });
  expect(api.cacheableCalls).toBe(callsAfter + 3);
});

it("serves elements from the descriptor of their list, after the next revision change", async () => {
  const balanceOf = (value: { balance?: string }) => value.balance ?? value;
  const read = async (index: number) => [
    balanceOf((await call("element", ["head", String(index)])).result as never),
    balanceOf(JSON.parse((await fetch(`/lists/head/${index}`)).text).data),
  ];
  const fromMain = ["from the main thread", "from the main thread"];
  const change = async () => {
    api.revision.raise();
    // The prewarmed list arrives before the response to a later call.
    await new Promise(setImmediate);
    await call("echo");
  };
  expect(await read(0)).toEqual(fromMain);
  await call("echo");
  await change();
  const { elementCalls } = api;
  expect(await read(1)).toEqual(["1", "1"]);
  expect(await read(2)).toEqual(["7", "7"]);
  api.values.balance = 8;
  await change();
  expect(await read(2)).toEqual(["8", "8"]);
  expect(api.elementCalls).toBe(elementCalls);
  // Indices that are out of range, indices in other formats, and other lists are not served from the cache.
  expect(await read(3)).toEqual(fromMain);
  expect((await call("element", ["head", 2])).result).toBe("from the main thread");
  expect((await call("element", ["other", "2"])).result).toBe("from the main thread");
});

it("prewarms responses to repeated calls, for both servers", async () => {
  const read = async () => [
    (await call("head")).result,
    (await call("status")).result,
    JSON.parse((await fetch("/status/cached")).text).data,
  ];
  // The second response is cached. Messages to the main thread arrive in order.
  await read();
  await read();
  await call("echo");
  const callsBefore = api.cacheableCalls;
  Object.assign(api.values, { head: "z", status: "fine" });
  api.revision.raise();
  while (api.cacheableCalls < callsBefore + 3) await call("echo");
  await call("echo");
  expect(await read()).toEqual(["z", "fine", "fine"]);
  expect(api.cacheableCalls).toBe(callsBefore + 3);
});

it("sees revision changes before any later message", async () => {
  const read = async () => (await call("head")).result;
  await read();
  await api.revision.transaction(async () => {
    api.values.head = "y";
    api.revision.raise();
    // The response to another call could reveal the new head.
    await call("echo");
    expect(await read()).toBe("y");
  });
});
