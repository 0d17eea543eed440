// Writes docs/architecture.svg and the table in docs/source-map.md from the table of import boundaries.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withBoundaries } from "./architecture/boundaries-table.ts";
import { architectureDiagram } from "./architecture/diagram.ts";
import { writeDocument } from "./write-document.ts";

const SOURCE_MAP = "docs/source-map.md";

writeDocument("docs/architecture.svg", architectureDiagram(), "the folders and their imports");
const sourceMap = readFileSync(join(import.meta.dirname, "..", SOURCE_MAP), "utf8");
writeDocument(SOURCE_MAP, withBoundaries(sourceMap), "the table of import boundaries");
