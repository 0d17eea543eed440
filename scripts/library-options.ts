// Writes the types of the options of a chain. Needs Node 24, as the program itself does.
import { generateFlagOptions } from "./library-options/generate.ts";
import { writeDocument } from "./write-document.ts";

const { path, text, options } = generateFlagOptions();
writeDocument(path, text, `${options} options`);
