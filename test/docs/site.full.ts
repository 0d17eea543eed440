import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const ROOT = join(import.meta.dirname, "../..");

/** A build takes a minute on two cores, after the installation of VitePress. */
const TIMEOUT_MS = 900_000;

it("npm run docs:site builds a static site without broken links and without other hosts", {
  timeout: TIMEOUT_MS,
}, async () => {
  const site = tempDirectory();
  const building = promisify(execFile)(process.execPath, [join(ROOT, "scripts/docs-site.js"), "--out", site]);
  await building.catch(({ message, stdout, code, signal }) => {
    throw new Error(`${message}\n${stdout}\nExit code ${code}, signal ${signal}.`);
  });
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
  const styles = globSync("**/*.css", { cwd: site }).map((file) => readFileSync(join(site, file), "utf8"));
  expect(styles.filter((style) => /(?:url\(|@import )["']?https?:/.test(style))).toEqual([]);
  expect(globSync("assets/chunks/@localSearchIndex*.js", { cwd: site })).toHaveLength(1);
  const home = readFileSync(join(site, "index.html"), "utf8");
  expect(home).toMatch(/VPNavBarSearch/);
  expect(home).toMatch(/VPSwitchAppearance/);
});

/** True if a static server finds the file. */
function exists(base: string, link: string): boolean {
  const path = join(base, link.replace(/\?.*$/, ""));
  return existsSync(path) && (statSync(path).isFile() || existsSync(join(path, "index.html")));
}
