import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a document that is made from the sources, and says what came of it. */
export function writeDocument(path: string, text: string, content: string): void {
  const file = join(import.meta.dirname, "..", path);
  const isUnchanged = existsSync(file) && readFileSync(file, "utf8") === text;
  if (!isUnchanged) writeFileSync(file, text);
  process.stdout.write(`${path}: ${content}, ${isUnchanged ? "unchanged" : "written anew"}\n`);
}
