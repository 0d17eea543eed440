// Builds the documentation as a static site: npm run docs:site [-- --out DIR]. The pages are those of the repository;
// VitePress is a dependency of site/ only. Runs on Node 20 or newer.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ownNode } from "../bin/own-node.js";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SITE = join(ROOT, "site");
const PAGES = ["docs", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
/** Links to other pages, to addresses and to images, which VitePress handles. */
const HANDLED = /^#|:|\.(md|png|svg)(#|$)/;

function run(command, args) {
  const { status, signal } = spawnSync(command, args, {
    cwd: SITE,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (signal) process.stderr.write(`${command} ${args[0]} was ended by ${signal}.\n`);
  if (status !== 0) process.exit(status ?? 1);
}

/** True if the installed VitePress is the locked one. */
function isInstalled() {
  const manifest = join(SITE, "node_modules", "vitepress", "package.json");
  if (!existsSync(manifest)) return false;
  const version = (path) => JSON.parse(readFileSync(path, "utf8")).version;
  const { packages } = JSON.parse(readFileSync(join(SITE, "package-lock.json"), "utf8"));
  return version(manifest) === packages["node_modules/vitepress"].version;
}

/** Copies a file that a page links to, as text that browsers show. Returns the link to it. */
function copyLinked(page, link) {
  const file = relative(CONTENT, resolve(dirname(page), link));
  cpSync(join(ROOT, file), join(CONTENT, "public", `${file}.txt`));
  return `${link}.txt`;
}

/** Returns the pages of the reference by the anchors of their methods. */
function methodPages() {
  const directory = join(CONTENT, "docs", "methods");
  return new Map(
    readdirSync(directory).flatMap((name) => {
      const headings = readFileSync(join(directory, name), "utf8").matchAll(/^## (\S+)$/gm);
      return [...headings].map(([, method]) => [method.toLowerCase().replaceAll(".", ""), name]);
    }),
  );
}

/** Leads links to a method to its page with examples, which only the site has. */
function linkToMethods(page, text) {
  if (page === join(CONTENT, "docs", "methods.md")) {
    return text.replaceAll(
      /<a id="(\w+)"><\/a>(`[^`]+`)/g,
      (_, id, name) => `[${name}](methods/${METHOD_PAGES.get(id)}#${id})`,
    );
  }
  return text.replaceAll(/\bmethods\.md#(\w+)\)/g, (match, id) => {
    const target = METHOD_PAGES.get(id);
    return target === undefined ? match : `methods/${target}#${id})`;
  });
}

/** Adapts a page. HTML would show, since VitePress takes it for text here: <NAME> is no element. */
function adapt(page) {
  const text = linkToMethods(page, readFileSync(page, "utf8").replaceAll(/^<!--.*?-->\n/gms, ""));
  const linked = text.replaceAll(/\]\(([^)\s]+)\)/g, (match, link) =>
    HANDLED.test(link) ? match : `](${copyLinked(page, link)})`,
  );
  writeFileSync(page, linked);
}

run(ownNode() ?? process.execPath, [join(ROOT, "scripts", "methods-doc.ts")]);
if (!isInstalled()) run("npm", ["ci", "--no-audit", "--no-fund"]);
// A directory of its own for each build: VitePress also writes temporary files beside its configuration.
const CONTENT = mkdtempSync(join(SITE, ".content-"));
process.on("exit", () => rmSync(CONTENT, { recursive: true, force: true }));
for (const page of PAGES) cpSync(join(ROOT, page), join(CONTENT, page), { recursive: true });
const METHOD_PAGES = methodPages();
for (const name of readdirSync(CONTENT, { recursive: true })) if (name.endsWith(".md")) adapt(join(CONTENT, name));
for (const name of ["index.md", ".vitepress"]) cpSync(join(SITE, name), join(CONTENT, name), { recursive: true });
cpSync(join(ROOT, "docs", "page.png"), join(CONTENT, "public", "page.png"));
const out = process.argv.indexOf("--out");
const target = out === -1 ? join(SITE, "dist") : resolve(process.argv[out + 1]);
const vitepress = join(SITE, "node_modules", "vitepress", "bin", "vitepress.js");
run(process.execPath, [vitepress, "build", CONTENT, "--outDir", target]);
