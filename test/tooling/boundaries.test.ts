import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { withBoundaries } from "../../scripts/architecture/boundaries-table.ts";
import { BOUNDARIES } from "../../scripts/lint/boundaries.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

describe("the table of import boundaries", () => {
  it("is the one in docs/source-map.md", () => {
    const document = readFileSync(join(ROOT, "docs", "source-map.md"), "utf8");
    expect(document, 'It is out of date: run "npm run docs".').toBe(withBoundaries(document));
  });

  it("lists only folders below each row", () => {
    const parts = Object.keys(BOUNDARIES);
    const upward = Object.entries(BOUNDARIES).flatMap(([part, allowed], row) =>
      allowed.filter((place) => parts.indexOf(place.split(/[ /]/)[0]!) <= row).map((place) => `${part} → ${place}`),
    );
    expect(upward).toEqual([]);
  });

  it("has a row for every folder of src", () => {
    const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(Object.keys(BOUNDARIES)).toEqual(expect.arrayContaining(folders.map(({ name }) => name)));
  });
});
