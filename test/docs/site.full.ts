import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const ROOT = join(import.meta.dirname, "../..");

it("npm run docs:site builds a static site without broken links and without other hosts", async () => {
  const site = tempDirectory();
  await promisify(execFile)(process.execPath, [join(ROOT, "scripts/docs-site.js"), "--out", site]);
  const pages = globSync("**/*.html", { cwd: site });
  expect(pages).toContain(join("docs", "guides", "ci.html"));
  const broken = pages.flatMap((page) =>
    [...readFileSync(join(site, page), "utf8").matchAll(/\b(?:href|src)="([^"#]+)/g)]
      .map(([, link]) => decodeURI(link!))
      .filter(
        (link) => !link.startsWith("http") && !exists(link.startsWith("/") ? site : join(site, dirname(page)), link),
      )
      .map((link) => `${page} links to ${link}`),
  );
  expect(broken).toEqual([]);
  const loaded = pages.flatMap((page) => [
    ...readFileSync(join(site, page), "utf8").matchAll(/<(?:script|link|img)[^>]*(?:src|href)="https?:[^"]*"/g),
  ]);
  expect(loaded.map(([element]) => element)).toEqual([]);
  const home = readFileSync(join(site, "index.html"), "utf8");
  expect(home).toMatch(/VPNavBarSearch/);
  expect(home).toMatch(/VPSwitchAppearance/);
});

/** True if a static server finds the file. */
function exists(base: string, link: string): boolean {
  const path = join(base, link.replace(/\?.*$/, ""));
  return existsSync(path) && (statSync(path).isFile() || existsSync(join(path, "index.html")));
}
