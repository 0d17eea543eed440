import { expect, it } from "vitest";
import { KeptAnswers } from "./kept-answers.ts";

it("gives answers that depend on the status for a while only, as a node that is stuck changes no number", () => {
  let now = 0;
  const kept = new KeptAnswers<string>(new Int32Array(2), { statusMillis: 100 }, () => now);
  kept.put("status", "well", 4, { on: "status", revision: 0 });
  kept.put("head", "7", 1, { on: "head", revision: 0 });
  now = 99;
  expect([kept.get("status"), kept.get("head")]).toEqual(["well", "7"]);
  now = 100;
  expect([kept.get("status"), kept.get("head")]).toEqual([undefined, "7"]);
});

it("makes room for new answers by leaving those that came first", () => {
  const kept = new KeptAnswers<string>(new Int32Array(2), { answers: 3, bytes: 12, answerBytes: 8 });
  for (const key of ["a", "b", "c", "d"]) kept.put(key, key, 2, "always");
  expect(["a", "b", "c", "d"].map((key) => kept.get(key))).toEqual([undefined, "b", "c", "d"]);
  kept.put("e", "e", 7, "always");
  expect(["b", "c", "d", "e"].map((key) => kept.get(key))).toEqual([undefined, undefined, "d", "e"]);
  kept.put("f", "f", 8, "always");
  expect(kept.get("f")).toBeUndefined();
});

it("never gives an answer of an earlier revision for one of a later, whichever comes last", () => {
  const revision = new Int32Array(2);
  const kept = new KeptAnswers<string>(revision);
  const put = (answer: string, number: number) => kept.put("head", answer, 1, { on: "head", revision: number });
  put("7", 0);
  revision[0] = 1;
  expect(kept.get("head")).toBeUndefined();
  put("8", 1);
  put("7", 0);
  expect(kept.get("head")).toBe("8");
  // An answer may come before its number is seen.
  put("9", 2);
  expect(kept.get("head")).toBeUndefined();
  revision[0] = 0x7fffffff;
  put("before", 0x7fffffff);
  Atomics.add(revision, 0, 1);
  put("after", revision[0]);
  put("before", 0x7fffffff);
  expect(kept.get("head")).toBe("after");
});
