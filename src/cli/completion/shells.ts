import { usageError } from "../exit.ts";

/** The shells that complete words of the program when they are told how. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function readShell([written, unexpected]: readonly string[]): Shell {
  const names = SHELLS.join(", ");
  if (written === undefined) throw usageError(`The name of the shell is missing, one of ${names}.`);
  const shell = SHELLS.find((name) => name === written);
  // Names of shells are alike, so that the nearest one is rarely what was meant.
  if (shell === undefined) throw usageError(`"fanal completion" does not know "${written}": it knows ${names}.`);
  if (unexpected !== undefined) throw usageError(`The argument "${unexpected}" is not expected.`);
  return shell;
}
