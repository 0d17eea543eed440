// Builds the documentation as a static site: npm run docs:site [-- --out DIR]. The pages are those of the repository;
// VitePress is a dependency of site/ only. Runs on Node 20 or newer.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

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

/** Adapts a page. HTML comments would show, since VitePress takes HTML for text here: <NAME> is no element. */
function adapt(page) {
  const text = readFileSync(page, "utf8").replaceAll(/^<!--.*?-->\n/gms, "");
  const linked = text.replaceAll(/\]\(([^)\s]+)\)/g, (match, link) =>
    HANDLED.test(link) ? match : `](${copyLinked(page, link)})`,
  );
  writeFileSync(page, linked);
}

if (!isInstalled()) run("npm", ["ci", "--no-audit", "--no-fund"]);
// A directory of its own for each build: VitePress also writes temporary files beside its configuration.
const CONTENT = mkdtempSync(join(SITE, ".content-"));
process.on("exit", () => rmSync(CONTENT, { recursive: true, force: true }));
for (const page of PAGES) cpSync(join(ROOT, page), join(CONTENT, page), { recursive: true });
for (const name of readdirSync(CONTENT, { recursive: true })) if (name.endsWith(".md")) adapt(join(CONTENT, name));
for (const name of ["index.md", ".vitepress"]) cpSync(join(SITE, name), join(CONTENT, name), { recursive: true });
cpSync(join(ROOT, "docs", "page.png"), join(CONTENT, "public", "page.png"));
const out = process.argv.indexOf("--out");
const target = out === -1 ? join(SITE, "dist") : resolve(process.argv[out + 1]);
const vitepress = join(SITE, "node_modules", "vitepress", "bin", "vitepress.js");
run(process.execPath, [vitepress, "build", CONTENT, "--outDir", target]);
