// Prints the flags of all commands as Markdown. Needs Node 24, as the program itself does.
import { flagReference } from "../src/cli/flags/flag-reference.ts";

process.stdout.write(flagReference());
