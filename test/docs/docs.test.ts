import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { architectureDiagram } from "../../scripts/architecture/diagram.ts";
import { generateConfigNames, generateFlagOptions } from "../../scripts/library-options/generate.ts";
import { ledger } from "../../scripts/rest-doc/ledger.ts";
import { sidebar } from "../../site/.vitepress/navigation.ts";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { flagReference } from "../../src/cli/flags/flag-reference.ts";
import { HEALTH_LOG_MESSAGES } from "../../src/gateway/upstream/upstream-health.ts";
import { brokenLinks } from "./broken-links.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

it("docs/flags.md has the flags that the command line accepts", () => {
  expect(read("docs/flags.md"), 'docs/flags.md is out of date: run "npm run docs".').toBe(flagReference());
});

it("the options of the library are the flags of fanal dev", () => {
  const { path, text } = generateFlagOptions();
  expect(read(path), `${path} is out of date: run "npm run docs".`).toBe(text);
});

it("the library knows the constants that --config can set", () => {
  const { path, text } = generateConfigNames();
  expect(read(path), `${path} is out of date: run "npm run docs".`).toBe(text);
});

it("docs/rest.md lists the served operations", () => {
  expect(read("docs/rest.md"), 'docs/rest.md is out of date: run "npm run docs".').toBe(ledger().text);
});

it("every exit code is documented", () => {
  const documented = [...read("docs/reference/exit-codes.md").matchAll(/^\| (\d+) \|/gm)].map(([, code]) =>
    Number(code),
  );
  expect(documented).toEqual([...new Set(Object.values(EXIT_CODES))].sort((a, b) => a - b));
});

it("docs/architecture.svg shows the import boundaries", () => {
  expect(read("docs/architecture.svg"), 'It is out of date: run "npm run docs".').toBe(architectureDiagram());
});

it("links between documents are valid", () => {
  expect(brokenLinks(ROOT)).toEqual([]);
});

it("lines of prose have at most 120 characters", () => {
  const documents = globSync(["*.md", "docs/**/*.md", "site/**/*.md"], {
    cwd: ROOT,
    exclude: (path) => /node_modules|^docs\/methods$/.test(path.replaceAll("\\", "/")),
  });
  expect(documents.length).toBeGreaterThan(50);
  const wide = documents.flatMap((path) =>
    read(path)
      // Code blocks.
      .replaceAll(/^```[\s\S]*?^```$|^ {4}.*$/gm, (block) => block.replaceAll(/.+/g, ""))
      .split("\n")
      .flatMap((line, index) => (line.length > 120 && !line.startsWith("|") ? `${path}:${index + 1}` : [])),
  );
  expect(wide).toEqual([]);
});

it("every page is in the navigation of the site", () => {
  const linked = sidebar(join(ROOT, "docs")).flatMap(({ items }) => items.map(({ link }) => link));
  const pages = globSync("docs/**/*.md", { cwd: ROOT }).map(
    (path) => `/${path.replaceAll("\\", "/").replace(".md", "")}`,
  );
  expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
  expect(new Set(linked).size).toBe(linked.length);
});

it("every decision is listed", () => {
  const listed = [...read("docs/decisions/README.md").matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name]) => name);
  const written = globSync("*.md", { cwd: join(ROOT, "docs/decisions") }).filter((name) => name !== "README.md");
  expect(listed.toSorted()).toEqual(written.toSorted());
});

it("the documents about the sources name existing files", () => {
  const text = ["architecture", "source-map", "adding-a-method"].map((name) => read(`docs/${name}.md`)).join("");
  // The file that the reader creates.
  const made = "test/methods/chain/finalized-epoch.test.ts";
  const there = globSync("{src,test,scripts,docs,bin}/**/*.{ts,js,md}", { cwd: ROOT }).map((path) => `/${path}`);
  const named = [...text.matchAll(/`([\w./-]+\.(?:ts|js|md))`/g)].map(([, path]) => path!);
  expect(named.filter((path) => path !== made && !there.some((each) => each.endsWith(`/${path}`)))).toEqual([]);
});

it("CONTRIBUTING.md names existing files", () => {
  const named = [...read("CONTRIBUTING.md").matchAll(/`(src\/[\w./-]+)`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it("docs/reference explains the warnings and errors of a node", () => {
  const sources = globSync("src/**/*.ts", { cwd: ROOT }).filter(
    (path) => !/^src\/(web|gateway|cli\/gateway)\/|gateway\.ts$/.test(path),
  );
  const written = linesOfTrouble(sources);
  expect(written.length).toBeGreaterThan(50);
  const explained = ["warnings", "execution-clients"].flatMap((name) => explainedLines(`docs/reference/${name}.md`));
  expect(written.filter(isNotIn(explained)), "Add rows to docs/reference/warnings.md.").toEqual([]);
});

it("docs/reference/gateway-operations.md explains the warnings and errors of a gateway", () => {
  const written = [
    ...linesOfTrouble(globSync("src/{gateway,cli/gateway}/**/*.ts", { cwd: ROOT })),
    ...Object.values(HEALTH_LOG_MESSAGES),
  ];
  expect(written.length).toBeGreaterThan(15);
  const explained = explainedLines("docs/reference/gateway-operations.md");
  const missing = written.filter(isNotIn([...explained, /^Upstream is ready$/]));
  expect(missing, "Add rows to docs/reference/gateway-operations.md.").toEqual([]);
});

/** Log messages in the tables of a document. A cell may have several. */
function explainedLines(document: string): RegExp[] {
  const tables = read(document).matchAll(/^\| line \|.+\n((?:\|.+\n)+)/gm);
  return Array.from(tables, ([, rows]) => [...rows!.matchAll(/^\| (?:ERROR: |FATAL: )?(.+?) \| /gm)])
    .flat()
    .flatMap(([, texts]) => texts!.split(/, (?=[A-Z…])/).map(patternOf));
}

/** Messages logged at level WARN or above. Templates are cut before their first expression. */
function linesOfTrouble(sources: readonly string[]): string[] {
  return sources
    .filter((path) => !path.endsWith(".test.ts"))
    .flatMap((path) => [...read(path).matchAll(/(?:\.(?:warn|error|fatal)\(\s*|raised: )(?:"([^"]+)"|`([^`$]+))/g)])
    .map(([, text, beginning]) => text ?? beginning!);
}

function isNotIn(explained: readonly RegExp[]): (text: string) => boolean {
  return (text) => !explained.some((pattern) => pattern.test(text));
}

/** Matches the start of a text in which … is a wildcard. */
function patternOf(text: string): RegExp {
  return new RegExp(`^${text.replace(/[^\w\s…]/g, "\\$&").replaceAll("…", ".*")}`);
}
