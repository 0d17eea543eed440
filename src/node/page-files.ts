import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { PageFiles } from "../server/http/pages.ts";

const SOURCE = join(import.meta.dirname, "..");
/** What the page is made of, and the client with which it calls the node. */
const FOLDERS = ["web", "client"];
const IS_SERVED = /(?<!\.test|\.test-support|\.d)\.(ts|js|css|svg)$/;

/** The libraries of the page, by the names under which `index.html` tells browsers of them. */
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

/** The page that shows the chain, in a checkout and in the package alike. */
export function pageFiles(): PageFiles {
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
