import { existsSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { StaticFilePaths } from "../../../server/http/response/static-files.ts";

/** The bundled page of the package. A checkout has none. */
const PACKAGED = fileURLToPath(new URL("../../../page", import.meta.url));

/** Returns the files of the web page by URL path, in a checkout and in the package. */
export async function pageFiles(): Promise<StaticFilePaths> {
  if (existsSync(PACKAGED)) return filesIn(PACKAGED);
  const { cachedBundle, sourceFiles } = await import("./checkout-page.ts");
  const bundle = await cachedBundle();
  return bundle === undefined ? sourceFiles() : filesIn(bundle);
}

function filesIn(directory: string): StaticFilePaths {
  const files: Record<string, string> = { "/": join(directory, "index.html") };
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile()) files[`/${relative(directory, file).replaceAll(sep, "/")}`] = file;
  }
  return files;
}
