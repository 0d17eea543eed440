import { methods } from "../../api/method-groups.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { type CompletedCommand, completedCommands } from "./offers.ts";
import type { Shell } from "./shells.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS: Readonly<Record<Shell, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** The script by which a shell completes the words of the program. */
export function completionScript(shell: Shell): string {
  const methodNames = methods.flatMap(({ name, aliases }) => [name, ...aliases]);
  return SCRIPTS[shell](completedCommands(methodNames));
}
