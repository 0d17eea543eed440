import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { GUIDES, outputPattern, ROOT, readGuide } from "./guide.ts";

const MAX_WORDS = 500;

// The second tier executes the blocks.
it.each(GUIDES)("docs/guides/%s.md is short and starts with something to paste", (name) => {
  const { text, steps } = readGuide(name);
  expect(text.split(/\s+/).length).toBeLessThan(MAX_WORDS);
  const [introduction] = text.split(/^## /m);
  expect(introduction).toMatch(/^```(sh|ts|yaml)$/m);
  // Other languages would not be executed.
  expect(steps.filter(({ language, file }) => !["sh", "ts"].includes(language) && file === undefined)).toEqual([]);
});

it("docs/guides/README.md lists every guide", () => {
  const index = readFileSync(join(ROOT, "docs/guides/README.md"), "utf8");
  expect(GUIDES.filter((name) => !index.includes(`](${name}.md)`))).toEqual([]);
});

it("compares output with … as a wildcard", () => {
  expect("slot  40\nroot  0xab\nmore\nend\n").toMatch(outputPattern("slot  40\nroot  …\n…\nend\n"));
  expect("slot  41\n").not.toMatch(outputPattern("slot  40\n"));
  expect("slot  40\nroot\n").not.toMatch(outputPattern("slot  40\n"));
});
