/** What the process tells its caller by its exit code. A second signal exits with 128 plus the signal's number. */
export const EXIT_CODES = {
  ok: 0,
  /** Something happened that nobody foresaw, and the log has the stack; or the call of `fanal call` was refused, or `fanal doctor` has found something wrong. */
  internal: 1,
  /** A flag, a FANAL_* variable, a command or the config file is wrong, or a native package lacks its binary. */
  usage: 2,
  /** The port is taken, or the address cannot be listened on. */
  listen: 3,
  /** Another process uses the data directory. */
  dataDirInUse: 4,
  /** The data directory belongs to another network or fork schedule, to other chain parameters, or to a newer version of the schema. */
  dataDirMismatch: 5,
  /** A state, network, token or secret file cannot be read, is truncated or is of the wrong fork. */
  unreadableInput: 6,
  /** The data directory cannot be created or opened, or what it holds is damaged. */
  dataDirUnusable: 7,
  /** The node that was called, or the execution client of a new dev chain, cannot be reached, or what it sent is no answer. */
  noAnswer: 8,
  /** A write to the database failed: the disk is full or does not work. */
  dataDirFailed: 9,
  /** What was to be printed cannot be written, for the same reasons. */
  outputFailed: 9,
  /** The node was told to stop and did not in time, so that it was ended all the same. */
  stopTimedOut: 10,
} as const;

export type ExitReason = keyof typeof EXIT_CODES;

/** The program cannot start, or go on, for a reason its user can mend: one sentence, no stack. */
export class StartupError extends Error {
  readonly exitCode: number;

  constructor(reason: ExitReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "StartupError";
    this.exitCode = EXIT_CODES[reason];
  }
}

export const usageError = (message: string, cause?: unknown) => new StartupError("usage", message, cause);
