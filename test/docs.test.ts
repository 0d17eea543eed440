import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EXIT_CODES } from "../src/cli/exit.ts";
import { flagReference } from "../src/cli/flags/flag-reference.ts";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

test("docs/flags.md has the flags that the command line accepts", () => {
  expect(read("docs/flags.md"), 'docs/flags.md is out of date: run "npm run docs".').toBe(flagReference());
});

test("every exit code is documented", () => {
  const documented = [...read("docs/operating.md").matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(documented).toEqual(Object.values(EXIT_CODES).sort((a, b) => a - b));
});
