import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { StaticFilePaths } from "../../server/http/response/static-files.ts";

const SOURCE = join(import.meta.dirname, "..", "..");
/** Folders with the files of the page. */
const FOLDERS = ["web", "client"];
const IS_SERVED = /(?<!\.test|\.test-support|\.d)\.(ts|js|css|svg)$/;

/** Libraries of the page by file name in the import map of `index.html`. */
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

/** Returns the files of the web page by URL path, in a checkout and in the package. */
export function pageFiles(): StaticFilePaths {
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
