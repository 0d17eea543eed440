import type { StartupError as CommandError, ExitReason } from "../cli/exit.ts";
import { asStartupError } from "../cli/start/start-errors.ts";
import { optionOf } from "./options.ts";
import { StartupError, type StartupErrorKind } from "./startup-error.ts";

const KINDS: Readonly<Partial<Record<ExitReason, StartupErrorKind>>> = {
  usage: "invalid-option",
  listen: "port-in-use",
  dataDirInUse: "data-dir-in-use",
  dataDirMismatch: "data-dir-mismatch",
  dataDirUnusable: "data-dir-unusable",
  dataDirFailed: "data-dir-unusable",
  unreadableInput: "unreadable-file",
  noAnswer: "no-execution-client",
};

/** Converts a command line error to one that names options. Returns unexpected errors unchanged. */
export function toStartupError(error: unknown): unknown {
  if (error instanceof StartupError) return error;
  const known: CommandError | undefined = asStartupError(error);
  const kind = known && KINDS[known.reason];
  if (kind === undefined) return error;
  return new StartupError(kind, withOptionNames(known!.message), { cause: error });
}

/** Matches a flag whose value is a number, a range, a pair or a fork. */
const FLAG =
  /--([a-z][a-z0-9-]*)(?: (\d[\d.-]*\d|\d|[a-z]+\d?=\d+|phase0|altair|bellatrix|capella|deneb|electra|fulu|gloas)\b)?/g;

/** Replaces flags with options: `--validators 4` becomes `validators: 4`, `--fork-at` becomes `"forkAt"`. */
export function withOptionNames(message: string): string {
  return message.replaceAll(FLAG, (text: string, flag: string, value: string | undefined) => {
    if (flag === "no-auto") return "speed: 0";
    const option = optionOf(flag);
    if (option === undefined) return text;
    if (value === undefined) return `"${option}"`;
    const [fork, epoch] = value.split("=");
    if (epoch !== undefined) return `${option}: { ${fork}: ${epoch} }`;
    return `${option}: ${Number.isNaN(Number(value)) ? `"${value}"` : value}`;
  });
}
