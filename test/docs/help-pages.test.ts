import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { methods } from "../../src/api/method-groups.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const PAGES = ["comparison", "faq", "glossary", "hardware", "troubleshooting", "upgrading"].map(
  (name) => `docs/${name}.md`,
);
/** Flags of other programs. */
const FOREIGN_FLAGS = ["--include", "--omit", "--version"];

it("docs/troubleshooting.md quotes log messages of the program", () => {
  const sources = globSync("src/**/*.ts", { cwd: ROOT }).map(read).join("\n");
  const quoted = [...read("docs/troubleshooting.md").matchAll(/^\| (.+?) \|/gm)].flatMap(([, symptom]) =>
    [...symptom!.matchAll(/"([A-Z][^"]+)"/g)].map(([, text]) => text!),
  );
  expect(quoted.length).toBeGreaterThan(30);
  expect(quoted.filter((text) => !sources.includes(`"${text}`) && !sources.includes(`\`${text}`))).toEqual([]);
});

it.each(PAGES)("%s names existing flags and methods", (page) => {
  const code = [...read(page).matchAll(/`([^`\n]+)`|^(fanal .+)$/gm)].map(([, span, line]) => span ?? line!);
  const reference = read("docs/flags.md");
  const flags = code.flatMap((text) => [...text.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*/g)].map(([flag]) => flag));
  const isKnown = (flag: string) => reference.includes(`${flag} `) || reference.includes(`${flag}\``);
  expect(flags.filter((flag) => !FOREIGN_FLAGS.includes(flag) && !isKnown(flag.replace("--no-", "--")))).toEqual([]);

  const named = code.flatMap(
    (text) => /^(?:fanal call )?((?:get_|post_|dev_|anvil_|get[A-Z])\w+)(?!\*)/.exec(text)?.[1] ?? [],
  );
  const names = new Set(methods.map(({ name }) => name));
  expect(named.filter((name) => !names.has(name))).toEqual([]);
});
