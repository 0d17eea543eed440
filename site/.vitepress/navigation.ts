import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Item {
  text: string;
  link: string;
}

interface Group {
  text: string;
  collapsed?: boolean;
  items: Item[];
}

/** Top-level pages. */
export const NAVIGATION: readonly Item[] = [
  { text: "Guides", link: "/docs/guides/README" },
  { text: "Library", link: "/docs/library" },
  { text: "Methods", link: "/docs/methods" },
  { text: "Architecture", link: "/docs/architecture" },
  { text: "Contributing", link: "/CONTRIBUTING" },
];

/** Pages by group. A pattern stands for all other pages that match it. */
const GROUPS: readonly { text: string; pages: readonly string[]; collapsed?: boolean }[] = [
  { text: "Guides", pages: ["guides/README", "guides/*"] },
  {
    text: "Subjects",
    pages: [
      "library",
      "dev-chain",
      "validator-client",
      "proofs",
      "page",
      "operating",
      "gateway",
      "reference/gateway-behaviour",
      "reference/gateway-operations",
      "doctor",
    ],
  },
  { text: "Help", pages: ["faq", "troubleshooting", "glossary", "comparison", "hardware", "upgrading"] },
  { text: "Reference", pages: ["flags", "rest", "monitoring", "chain-file", "reference/*"] },
  { text: "Methods", pages: ["methods", "methods/*"], collapsed: true },
  {
    text: "Explanation",
    pages: [
      "architecture",
      "source-map",
      "adding-a-method",
      "correctness",
      "threat-model",
      "reliability",
      "benchmarks",
      "testing",
      "dependencies",
    ],
  },
  { text: "Decisions", pages: ["decisions/README", "decisions/*"], collapsed: true },
];

/** Returns the sidebar of the documents in a directory. Missing pages are left out. */
export function sidebar(docs: string): Group[] {
  const all = globSync("**/*.md", { cwd: docs }).map((path) => path.replaceAll("\\", "/").replace(/\.md$/, ""));
  return GROUPS.map(({ text, pages, collapsed }) => {
    const named = new Set(GROUPS.flatMap((group) => group.pages));
    const matching = pages.flatMap((page) =>
      page.endsWith("/*")
        ? all.filter((path) => path.startsWith(page.slice(0, -1)) && !named.has(path)).toSorted()
        : all.filter((path) => path === page),
    );
    const items = matching.map((page) => ({ text: titleOf(join(docs, `${page}.md`)), link: `/docs/${page}` }));
    return { text, items, ...(collapsed && { collapsed }) };
  });
}

function titleOf(path: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(path, "utf8")) ?? [];
  return title ?? path;
}
