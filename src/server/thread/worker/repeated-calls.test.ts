import { expect, it } from "vitest";
import { RepeatedCalls } from "./repeated-calls.ts";

it("expires a call after half a minute without use", () => {
  let now = 0;
  const over: number[] = [];
  const repeated = new RepeatedCalls(
    (id) => over.push(id),
    () => now,
  );
  const id = repeated.add("a")!;
  expect(id).toBeLessThan(0);
  expect(repeated.add("a")).toBeUndefined();
  now = 29_999;
  expect(repeated.keyOf(id)).toBe("a");
  repeated.touch("a");
  now = 59_998;
  expect(repeated.keyOf(id)).toBe("a");
  now = 59_999;
  expect(repeated.keyOf(id)).toBeUndefined();
  expect(over).toEqual([id]);
  const later = repeated.add("a")!;
  expect(later).not.toBe(id);
  expect([repeated.keyOf(id), repeated.keyOf(later)]).toEqual([undefined, "a"]);
});

it("tracks 64 calls and replaces expired ones", () => {
  let now = 0;
  const over: number[] = [];
  const repeated = new RepeatedCalls(
    (id) => over.push(id),
    () => now,
  );
  const ids = Array.from({ length: 64 }, (_, index) => repeated.add(String(index))!);
  expect(repeated.add("another")).toBeUndefined();
  now = 30_000;
  for (let index = 0; index < 64; index++) if (index !== 7) repeated.touch(String(index));
  expect(repeated.add("another")).toBeDefined();
  expect(over).toEqual([ids[7]]);
  expect(repeated.add("a third")).toBeUndefined();
});
