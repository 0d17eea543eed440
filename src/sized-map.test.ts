import { expect, it } from "vitest";
import { SizedMap } from "./sized-map.ts";

it("drops what was used least recently when its bytes do not suffice, and counts no entry twice", () => {
  const map = new SizedMap<string>({ bytes: 10 });
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
