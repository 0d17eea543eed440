import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputChunk, rolldown } from "rolldown";

const IMPORT_MAP = /\s*<script type="importmap">.*?<\/script>/s;

/** The imports of the main file are requested along with the file itself. */
const preload = (name: string) => `\n    <link rel="modulepreload" href="/web/${name}">`;

/** Bundles the page of a checkout into a directory, with the URLs of the unbundled page. Returns its chunks. */
export async function bundlePage(root: string, directory: string): Promise<OutputChunk[]> {
  const source = join(root, "src", "web");
  await using bundler = await rolldown({
    cwd: root,
    input: { main: join(source, "main.ts") },
    platform: "browser",
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundler.write({
    dir: join(directory, "web"),
    minify: true,
    entryFileNames: "[name].js",
    // File names depend on the content. After an update, a page that is still open finds no chunk, rather than a chunk
    // from another version.
    chunkFileNames: "chunks/[name]-[hash].js",
  });
  await mkdir(join(directory, "vendor"));
  for (const name of ["style.css", "icon.svg"]) await copyFile(join(source, name), join(directory, "web", name));
  const plotStyle = fileURLToPath(import.meta.resolve("uplot/dist/uPlot.min.css"));
  await copyFile(plotStyle, join(directory, "vendor", "uplot.css"));
  const chunks = output.filter((file) => file.type === "chunk");
  const preloads = chunks.find(({ isEntry }) => isEntry)!.imports.map(preload);
  const index = await readFile(join(source, "index.html"), "utf8");
  await writeFile(join(directory, "index.html"), index.replace(IMPORT_MAP, preloads.join("")));
  return chunks;
}
