import { createHash } from "node:crypto";
import { constants, readdirSync, readFileSync } from "node:fs";
import { access, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { StaticFilePaths } from "../../../server/http/response/static-files.ts";

const SOURCE = join(import.meta.dirname, "..", "..", "..");
const ROOT = join(SOURCE, "..");
const CACHE = join(ROOT, "node_modules", ".cache", "fanal-page");
/** Folders containing the page's files. */
const FOLDERS = ["web", "client"];
const IS_SERVED = /(?<!\.test|\.d)\.(ts|js|css|svg)$/;

/** Libraries used by the page, keyed by file name in the import map of `index.html`. */
const LIBRARIES: Readonly<Record<string, string>> = {
  "preact.js": "preact",
  "hooks.js": "preact/hooks",
  "signals-core.js": "@preact/signals-core",
  "signals.js": "@preact/signals",
  "htm.js": "htm",
  "htm-preact.js": "htm/preact",
  "uplot.js": "uplot/dist/uPlot.esm.js",
  "uplot.css": "uplot/dist/uPlot.min.css",
};

/** Returns the unbundled files of the page by URL path. Types are stripped on request. */
export function sourceFiles(): StaticFilePaths {
  const files: Record<string, string> = { "/": join(SOURCE, "web", "index.html") };
  for (const folder of FOLDERS) {
    for (const entry of readdirSync(join(SOURCE, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !IS_SERVED.test(entry.name)) continue;
      const file = join(entry.parentPath, entry.name);
      files[`/${relative(SOURCE, file).replaceAll(sep, "/").replace(/\.ts$/, ".js")}`] = file;
    }
  }
  for (const [name, library] of Object.entries(LIBRARIES)) {
    files[`/vendor/${name}`] = fileURLToPath(import.meta.resolve(library));
  }
  return files;
}

/**
 * Returns the directory of the bundled page. Bundles the page if any of its files has changed since the last bundle.
 * Returns undefined if there is no bundler for this platform or the cache is not writable.
 */
export async function cachedBundle(cache = CACHE): Promise<string | undefined> {
  const directory = join(cache, bundleKey());
  if (await isReadable(directory)) return directory;
  try {
    const { bundlePage } = await import("./bundle-page.ts");
    // Written aside and renamed: several nodes may start at once.
    await mkdir(cache, { recursive: true });
    const unfinished = await mkdtemp(join(cache, "unfinished-"));
    try {
      await bundlePage(ROOT, unfinished);
      await rename(unfinished, directory);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  } catch {
    // The unbundled page works just as well.
  }
  return (await isReadable(directory)) ? directory : undefined;
}

/** Also returns false for a bundle owned by another user. */
function isReadable(directory: string): Promise<boolean> {
  return access(join(directory, "index.html"), constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** Hashes the page's files, and the manifest, which contains the versions of its libraries. */
function bundleKey(): string {
  const { "/": index, ...files } = sourceFiles();
  const paths = [
    index!,
    ...Object.values(files),
    join(ROOT, "package.json"),
    join(import.meta.dirname, "bundle-page.ts"),
  ];
  const hash = createHash("sha256");
  for (const path of paths) {
    const content = readFileSync(path);
    hash.update(`${relative(ROOT, path)} ${content.length}\n`).update(content);
  }
  return hash.digest("hex").slice(0, 16);
}
