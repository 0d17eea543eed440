import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { githubAnchor } from "../../site/.vitepress/anchors.ts";

/** Returns broken links between the documents of a tree, including links to missing headings. */
export function brokenLinks(root: string): string[] {
  const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root });
  const anchors = new Map(documents.map((path) => [path, anchorsOf(readFileSync(join(root, path), "utf8"))]));
  return documents.flatMap((document) =>
    [...withoutCode(readFileSync(join(root, document), "utf8")).matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)]
      .map(([, path, anchor]) => ({ target: path ? join(dirname(document), path) : document, anchor }))
      .filter(
        ({ target, anchor }) =>
          !existsSync(join(root, target)) || (anchor !== undefined && !anchors.get(target)?.has(anchor)),
      )
      .map(({ target, anchor }) => `${document} links to ${target}${anchor === undefined ? "" : `#${anchor}`}`),
  );
}

const withoutCode = (text: string) => text.replaceAll(/^```.*?^```$/gms, "");

/** Returns the anchors of a document: its own, and those of headings as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set([...text.matchAll(/<a id="(\w+)">/g)].map(([, id]) => id!));
  for (const [, heading] of withoutCode(text).matchAll(/^#+ (.+)$/gm)) {
    const anchor = githubAnchor(heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}
