/** Exit codes of the process. A second signal exits with 128 plus the signal number. */
export const EXIT_CODES = {
  ok: 0,
  /**
   * Unexpected error, with its stack in the log; an error response to `fanal call`; or a problem found by `fanal
   * doctor`.
   */
  internal: 1,
  /** A flag, FANAL_* variable, command or config file is invalid, or a native package lacks its binary. */
  usage: 2,
  /** The port is in use, or the address is unavailable. */
  listen: 3,
  /** Another process uses the data directory. */
  dataDirInUse: 4,
  /** The data directory contains another network, fork schedule or chain parameters, or has a newer schema version. */
  dataDirMismatch: 5,
  /** A state, network, token or secret file is unreadable, truncated or from the wrong fork. */
  unreadableInput: 6,
  /** The data directory cannot be created or opened, or is damaged. */
  dataDirUnusable: 7,
  /** The called node, or the execution client of a new dev chain, is unreachable or sent no valid response. */
  noAnswer: 8,
  /** A database write failed because the disk is full or broken. */
  dataDirFailed: 9,
  /** Writing to standard output failed because the disk is full or broken. */
  outputFailed: 9,
  /** The node did not stop in time and was killed. */
  stopTimedOut: 10,
} as const;

export type ExitReason = keyof typeof EXIT_CODES;

/** Error that the user can fix. Printed as a sentence, without a stack trace. */
export class StartupError extends Error {
  readonly reason: ExitReason;
  readonly exitCode: number;

  constructor(reason: ExitReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "StartupError";
    this.reason = reason;
    this.exitCode = EXIT_CODES[reason];
  }
}

export const usageError = (message: string, cause?: unknown) => new StartupError("usage", message, cause);
