import { ClockStoppedError } from "../chain/clock/clock.ts";
import { NoActiveValidatorsError } from "../chain/states/advance.ts";
import { StateUnavailableError } from "../chain/states/state-store.ts";
import { DatabaseOpenError, DatabaseWriteError } from "../db/errors.ts";
import { Failure, notFound, unavailable } from "../errors/failure.ts";
import { EthError } from "../evm/eth/eth-error.ts";
import { EngineUnavailableError, PayloadUnavailableError } from "../execution/engine.ts";
import { DepositsUnavailableError } from "../execution/eth1/deposit-chain.ts";
import { ControlError } from "./dev-control.ts";
import { ethFailure } from "./eth-failure.ts";

/**
 * Converts errors from the chain, the execution engine or the deposit tracker to a `Failure`. Returns other errors
 * unchanged.
 */
export function toFailure(error: unknown): unknown {
  if (error instanceof ControlError) return error.failure;
  if (error instanceof EthError) return ethFailure(error);
  if (error instanceof StateUnavailableError) return notFound(error.message, { cause: error });
  if (
    error instanceof PayloadUnavailableError ||
    error instanceof EngineUnavailableError ||
    error instanceof DepositsUnavailableError ||
    error instanceof NoActiveValidatorsError
  ) {
    return unavailable(error.message, { cause: error });
  }
  if (error instanceof ClockStoppedError) {
    return new Failure("server", "The node is shutting down, its clock is stopped.", {
      cause: error,
    });
  }
  const reason = diskFailure(error);
  return reason === undefined ? error : new Failure("server", reason, { cause: error });
}

/** Descriptions of disk errors, by system error code. */
const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full",
  EDQUOT: "The disk quota is used up",
  EFBIG: "The file is larger than the system allows",
  EROFS: "The disk is read-only",
  EIO: "Disk I/O error",
};
/** LevelDB exposes a system error only through its message. */
const FULL_DISK = /no space left on device|disk quota exceeded/i;

/** Returns a sentence about a disk error, or undefined for any other error. */
function diskFailure(error: unknown): string | undefined {
  if (error instanceof DatabaseWriteError || error instanceof DatabaseOpenError) {
    return FULL_DISK.test(error.message) ? `The disk is full. ${error.message}` : error.message;
  }
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const problem = DISK_ERRORS[String(error.code)];
  return problem && `${problem}: ${error.message}.`;
}

/** Wraps a function so that errors from the chain are thrown as a `Failure`. */
export function withFailures<Args extends unknown[], T>(
  call: (...args: Args) => T | Promise<T>,
): (...args: Args) => Promise<T> {
  return async (...args) => {
    try {
      return await call(...args);
    } catch (error) {
      throw toFailure(error);
    }
  };
}
