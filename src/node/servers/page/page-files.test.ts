import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { tempDirectory } from "../../../../test/support/directories/temp-directory.ts";
import { cachedBundle, sourceFiles } from "./checkout-page.ts";
import { pageFiles } from "./page-files.ts";

it("bundles the page of a checkout within the budget of the first view", async () => {
  const files = await pageFiles();
  const index = readFileSync(files["/"]!, "utf8");
  const linked = [...index.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path]) => path!);
  const first = new Set(["/", ...linked]);
  expect([...first].filter((path) => files[path] === undefined)).toEqual([]);
  expect(first.size).toBeLessThanOrEqual(8);
  const bytes = [...first].map((path) => gzipSync(readFileSync(files[path]!)).length);
  expect(bytes.reduce((sum, size) => sum + size)).toBeLessThan(60_000);
  expect([...first].join()).not.toContain("uplot");
  expect(Object.keys(files).join()).toMatch(/chunks\/validator-/);
});

it("reuses the bundle", async () => {
  const cache = tempDirectory();
  const [one, other] = await Promise.all([cachedBundle(cache), cachedBundle(cache)]);
  expect(one).toBeDefined();
  expect(other).toBe(one);
  expect(await cachedBundle(cache)).toBe(one);
});

it("has an unbundled page for platforms without a bundler, and for a cache that is not writable", async () => {
  expect(await cachedBundle("/dev/null/cache")).toBeUndefined();
  const files = sourceFiles();
  expect(readFileSync(files["/"]!, "utf8")).toContain("importmap");
  expect(Object.keys(files)).toEqual(expect.arrayContaining(["/web/main.js", "/vendor/preact.js"]));
});
