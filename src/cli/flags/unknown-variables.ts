import { usageError } from "../exit.ts";
import { COMMAND_NAMES, COMMANDS } from "./commands.ts";
import type { ConfigProblems } from "./config-problems.ts";
import { nearestFlag } from "./did-you-mean.ts";
import { environmentName, type Flag, flagNames } from "./flag.ts";

const PREFIX = environmentName("");

/**
 * Variables with our prefix that are not settings: variables used by the tests, and those set by Docker and Kubernetes
 * for a service named fanal.
 */
const OTHERS = /^FANAL_(?:TEST_|SERVICE_|PORT(?:$|_\d))/;

/** Reports each FANAL_* variable that is not a setting of any command, since it is probably misspelled. */
export function reportUnknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  problems: ConfigProblems,
): void {
  const flags = COMMAND_NAMES.flatMap((name) => Object.values<Flag<unknown>>(COMMANDS[name].flags));
  const names = new Set(flags.flatMap(flagNames));
  const knownVariables = new Set(Array.from(names, environmentName));
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith(PREFIX) || !value || knownVariables.has(variable) || OTHERS.test(variable)) continue;
    const nearest = nearestFlag(variable.slice(PREFIX.length), names);
    const hint =
      nearest === undefined ? "docs/flags.md lists all variables." : `Did you mean ${environmentName(nearest)}?`;
    problems.reject(usageError(`Unknown environment variable ${variable}. ${hint}`), { isOutside: true });
    if (nearest !== undefined) problems.addMeant(nearest);
  }
}
