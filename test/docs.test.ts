import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EXIT_CODES } from "../src/cli/exit.ts";
import { flagReference } from "../src/cli/flags/flag-reference.ts";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

test("the README's table of flags is what the command line accepts", () => {
  expect(read("README.md")).toContain(flagReference().trim());
});

test("every exit code is documented", () => {
  const documented = [...read("docs/operating.md").matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(documented).toEqual(Object.values(EXIT_CODES).sort((a, b) => a - b));
});
