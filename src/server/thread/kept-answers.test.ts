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
