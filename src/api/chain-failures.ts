import { ClockStoppedError } from "../chain/clock/clock.ts";
import { NoActiveValidatorsError } from "../chain/states/advance.ts";
import { StateUnavailableError } from "../chain/states/state-store.ts";
import { DatabaseOpenError, DatabaseWriteError } from "../db/errors.ts";
import { Failure, notFound, unavailable } from "../errors/failure.ts";
import { EngineUnavailableError, PayloadUnavailableError } from "../execution/engine.ts";
import { DepositsUnavailableError } from "../execution/eth1/deposit-chain.ts";
import { ControlRefusal } from "./dev-control.ts";

/** What the chain, the execution engine or the deposit chain cannot give or do, as the failure of a call; anything else stays as it was thrown. */
export function toFailure(error: unknown): unknown {
  if (error instanceof ControlRefusal) return error.failure;
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
    return new Failure("server", "The node is shutting down, and the time of its chain stands still.", {
      cause: error,
    });
  }
  const reason = diskFailure(error);
  return reason === undefined ? error : new Failure("server", reason, { cause: error });
}

/** System errors of a disk that takes nothing more. */
const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full",
  EDQUOT: "The disk quota is used up",
  EFBIG: "The file is larger than the system allows",
  EROFS: "The disk is read-only",
  EIO: "The disk does not work",
};
/** LevelDB gives the system's message alone. */
const FULL_DISK = /no space left on device|disk quota exceeded/i;

/** What keeps the node from writing, as a sentence; undefined for any other error. */
function diskFailure(error: unknown): string | undefined {
  if (error instanceof DatabaseWriteError || error instanceof DatabaseOpenError) {
    return FULL_DISK.test(error.message) ? `The disk is full. ${error.message}` : error.message;
  }
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const problem = DISK_ERRORS[String(error.code)];
  return problem && `${problem}: ${error.message}.`;
}

/** The same call, with what the chain cannot give as its failure. */
export function failingAsCall<Args extends unknown[], T>(
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
