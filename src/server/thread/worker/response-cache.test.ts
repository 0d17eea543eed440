import { expect, it } from "vitest";
import type { MethodResponse } from "../../method-table.ts";
import { ResponseCache } from "./response-cache.ts";

const answer = (text: string): MethodResponse => ({ body: Buffer.from(text) });
const cachedBody = (cache: ResponseCache, key: string) => {
  const cached = cache.get(key)?.response as MethodResponse | undefined;
  return cached && String(cached.body);
};
const on = (counter: "head" | "status", revision: number) => ({ on: counter, revision, isPrewarmed: false });

it("caps the age of status responses, since a stuck node changes no revision", () => {
  let now = 0;
  const cache = new ResponseCache(new Int32Array(2), { statusMillis: 100 }, () => now);
  cache.put("status", answer("well"), 4, on("status", 0));
  cache.put("head", answer("7"), 1, on("head", 0));
  now = 99;
  expect([cachedBody(cache, "status"), cachedBody(cache, "head")]).toEqual(["well", "7"]);
  now = 100;
  expect([cachedBody(cache, "status"), cachedBody(cache, "head")]).toEqual([undefined, "7"]);
});

it("evicts the least recently used responses and caches none that is too large", () => {
  const cache = new ResponseCache(new Int32Array(2), { entries: 3, bytes: 12, responseBytes: 8 });
  const cached = (...keys: string[]) => keys.filter((key) => cache.get(key) !== undefined);
  for (const key of ["a", "b", "c", "d"]) cache.put(key, answer(key), 2, "always");
  expect(cached("a", "b", "c", "d")).toEqual(["b", "c", "d"]);
  cache.put("e", answer("e"), 7, "always");
  expect(cached("b", "c", "d", "e")).toEqual(["d", "e"]);
  cache.put("f", answer("f"), 8, "always");
  expect(cached("d", "e", "f")).toEqual(["d", "e"]);
});

it("never replaces a response of a later revision", () => {
  const revision = new Int32Array(2);
  const cache = new ResponseCache(revision);
  const put = (text: string, number: number) => cache.put("head", answer(text), 1, on("head", number));
  put("7", 0);
  revision[0] = 1;
  expect(cachedBody(cache, "head")).toBeUndefined();
  put("8", 1);
  put("7", 0);
  expect(cachedBody(cache, "head")).toBe("8");
  // A response may arrive before its revision becomes visible.
  put("9", 2);
  expect(cachedBody(cache, "head")).toBeUndefined();
  revision[0] = 0x7fffffff;
  put("before", 0x7fffffff);
  Atomics.add(revision, 0, 1);
  put("after", revision[0]);
  put("before", 0x7fffffff);
  expect(cachedBody(cache, "head")).toBe("after");
});
