// Writes the types of the options of a chain, and the reference of its helpers. Needs Node 24, as the program itself does.
import { generateChainHelpers } from "./library-options/chain-helpers.ts";
import { generateConfigNames, generateFlagOptions } from "./library-options/generate.ts";
import { writeDocument } from "./write-document.ts";

const { path, text, options } = generateFlagOptions();
writeDocument(path, text, `${options} options`);
const helpers = generateChainHelpers();
writeDocument(helpers.path, helpers.text, `${helpers.sections} sections`);
const config = generateConfigNames();
writeDocument(config.path, config.text, `${config.names} constants`);
