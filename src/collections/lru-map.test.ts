import { expect, it } from "vitest";
import { LruMap } from "./lru-map.ts";

const keysOf = (map: LruMap<string, number>) => Array.from(map.entries(), ([key]) => key);

function filled(capacity: number, ...keys: string[]): LruMap<string, number> {
  const map = new LruMap<string, number>(capacity);
  keys.forEach((key, i) => {
    map.set(key, i);
  });
  return map;
}

it("evicts the oldest entry", () => {
  const map = filled(2, "a", "b", "c");
  expect(keysOf(map)).toEqual(["b", "c"]);
  expect(map.size).toBe(2);
  expect(map.get("a")).toBeUndefined();
});

it("reading an entry keeps it", () => {
  const map = filled(2, "a", "b");
  expect(map.get("a")).toBe(0);
  map.set("c", 2);
  expect(keysOf(map)).toEqual(["a", "c"]);
});

it("reading a missing entry evicts nothing", () => {
  const map = filled(2, "a", "b");
  expect(map.get("c")).toBeUndefined();
  expect(keysOf(map)).toEqual(["a", "b"]);
});

it("setting an entry again updates and keeps it", () => {
  const map = filled(2, "a", "b");
  map.set("a", 7);
  map.set("c", 2);
  expect([...map.entries()]).toEqual([
    ["a", 7],
    ["c", 2],
  ]);
});

it("deleting makes room", () => {
  const map = filled(2, "a", "b");
  map.delete("a");
  map.delete("never there");
  map.set("c", 2);
  expect([...map.values()]).toEqual([1, 2]);
});
