import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** Writes a generated document and prints whether it changed. */
export function writeDocument(path: string, text: string, content: string): void {
  const file = join(ROOT, path);
  const isUnchanged = existsSync(file) && readFileSync(file, "utf8") === text;
  mkdirSync(dirname(file), { recursive: true });
  if (!isUnchanged) writeFileSync(file, text);
  process.stdout.write(`${path}: ${content}, ${isUnchanged ? "unchanged" : "rewritten"}\n`);
}

/** Deletes the documents of a directory that are no longer generated. */
export function removeOtherFiles(directory: string, generated: ReadonlyMap<string, string>): void {
  for (const name of globSync("*.md", { cwd: join(ROOT, directory) })) {
    if (!generated.has(`${directory}/${name}`)) rmSync(join(ROOT, directory, name));
  }
}
