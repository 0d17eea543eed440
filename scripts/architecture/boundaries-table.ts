import { BOUNDARIES } from "../lint/boundaries.ts";

const TABLE = /^\| in src\/ \| may import \|\n\|---\|---\|\n(?:\|.*\n)*/m;

/** Returns the document with the current table of import boundaries. */
export function withBoundaries(document: string): string {
  if (!TABLE.test(document)) throw new Error("The document has no table of import boundaries.");
  const rows = Object.entries(BOUNDARIES).map(
    ([part, allowed]) => `| ${part} | ${allowed.join(", ") || "nothing"} |\n`,
  );
  return document.replace(TABLE, ["| in src/ | may import |\n|---|---|\n", ...rows].join(""));
}
