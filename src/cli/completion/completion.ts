import { methods } from "../../api/method-groups.ts";
import { bashScript } from "./bash.ts";
import { type CompletionCommand, completionCommands } from "./candidates.ts";
import { fishScript } from "./fish.ts";
import type { Shell } from "./shells.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS: Readonly<Record<Shell, (commands: readonly CompletionCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Generates the completion script of a shell. */
export function completionScript(shell: Shell): string {
  const methodNames = methods.flatMap(({ name, aliases }) => [name, ...aliases]);
  return SCRIPTS[shell](completionCommands(methodNames));
}
