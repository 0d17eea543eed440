import { usageError } from "../exit.ts";
import { COMMAND_NAMES, COMMANDS } from "./commands.ts";
import { nearestFlag } from "./did-you-mean.ts";
import { environmentName, type Flag, flagNames } from "./flag.ts";

const PREFIX = environmentName("");

/**
 * They begin like settings and are none: those of the project's tests, and those by which Docker and Kubernetes tell
 * containers of a service called fanal.
 */
const OTHERS = /^FANAL_(?:TEST_|SERVICE_|PORT(?:$|_\d))/;

/** Throws for a variable that looks like a setting and is none of any command: it was probably misspelt. */
export function refuseUnknownVariables(environment: Readonly<Record<string, string | undefined>>): void {
  const flags = COMMAND_NAMES.flatMap((name) => Object.values<Flag<unknown>>(COMMANDS[name].flags));
  const names = new Set(flags.flatMap(flagNames));
  const known = new Set(Array.from(names, environmentName));
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith(PREFIX) || !value || known.has(variable) || OTHERS.test(variable)) continue;
    const nearest = nearestFlag(variable.slice(PREFIX.length), names);
    const hint =
      nearest === undefined ? "docs/flags.md has those there are." : `Did you mean ${environmentName(nearest)}?`;
    throw usageError(`The environment variable ${variable} is not that of a flag. ${hint}`);
  }
}
