// Writes docs/architecture.svg from the table of import boundaries.
import { architectureDiagram } from "./architecture/diagram.ts";
import { writeDocument } from "./write-document.ts";

writeDocument("docs/architecture.svg", architectureDiagram(), "the folders and their imports");
