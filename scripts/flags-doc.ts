// Writes docs/flags.md. Needs Node 24, as the program itself does.

import { COMMAND_NAMES } from "../src/cli/flags/commands.ts";
import { flagReference } from "../src/cli/flags/flag-reference.ts";
import { writeDocument } from "./write-document.ts";

writeDocument("docs/flags.md", flagReference(), `${COMMAND_NAMES.length} commands`);
