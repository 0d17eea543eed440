import { expect, it } from "vitest";
import { ByteLru } from "./byte-lru.ts";

it("evicts the least recently used entries above its byte limit, and counts a replaced entry once", () => {
  const map = new ByteLru<string>({ bytes: 10 });
  for (const key of ["a", "b", "c"]) map.set(key, key.toUpperCase(), 2);
  expect(map.get("a")).toBe("A");
  map.set("c", "C again", 2);
  map.set("d", "D", 2);
  expect(["a", "b", "c", "d"].map((key) => map.get(key))).toEqual(["A", undefined, "C again", "D"]);
  map.delete("a");
  map.set("e", "E", 3);
  expect(["c", "d", "e"].map((key) => map.get(key))).toEqual(["C again", "D", "E"]);
  map.set("too much", "", 3);
  expect(["c", "d", "e", "too much"].map((key) => map.get(key))).toEqual([undefined, undefined, undefined, undefined]);
});
