import { usageError } from "../exit.ts";

/** Shells with a completion script. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function readShell([written, unexpected]: readonly string[]): Shell {
  const names = SHELLS.join(", ");
  if (written === undefined) throw usageError(`Missing shell. Give one of ${names}.`);
  const shell = SHELLS.find((name) => name === written);
  // No suggestion: shell names are so similar that the nearest name is rarely the intended one.
  if (shell === undefined) throw usageError(`Unknown shell "${written}". Give one of ${names}.`);
  if (unexpected !== undefined) throw usageError(`Unexpected argument "${unexpected}".`);
  return shell;
}
