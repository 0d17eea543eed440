import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Broken links between the documents of a tree. */
export function brokenLinks(root: string): string[] {
  return globSync(["*.md", "docs/**/*.md"], { cwd: root }).flatMap((document) =>
    [...readFileSync(join(root, document), "utf8").matchAll(/\]\(([^)#:]+)(#[^)]*)?\)/g)]
      .map(([, target]) => join(dirname(document), target!))
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${document} links to ${target}`),
  );
}
