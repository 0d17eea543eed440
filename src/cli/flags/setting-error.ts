import { type ExitReason, StartupError } from "../exit.ts";

type NameOfFlag = (flag: string) => string;

/** Error about flags. Config file errors refer to the flags by their keys. */
export class SettingError extends StartupError {
  /** The invalid flag. */
  readonly flag: string;
  /** Describes the problem using the names of the flags, without a final period. */
  readonly describe: (nameOf: NameOfFlag) => string;

  constructor(
    flag: string,
    describe: (nameOf: NameOfFlag) => string,
    { reason = "usage", cause }: { reason?: ExitReason; cause?: unknown } = {},
  ) {
    super(reason, sentence(describe((name) => `--${name}`)), cause);
    this.flag = flag;
    this.describe = describe;
  }
}

/** Ends a text with a period, unless the text is a question. */
export function sentence(text: string): string {
  return text.endsWith("?") ? text : `${text}.`;
}
