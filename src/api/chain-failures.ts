import { ClockStoppedError } from "../chain/clock/clock.ts";
import { NobodyActiveError } from "../chain/states/advance.ts";
import { StateUnavailableError } from "../chain/states/state-store.ts";
import { EngineUnavailableError, PayloadUnavailableError } from "../execution/engine.ts";
import { DepositsUnavailableError } from "../execution/eth1/deposit-chain.ts";
import { Failure, notFound, unavailable } from "../failure.ts";
import { ControlRefusal } from "./dev-control.ts";

/** What the chain, the execution engine or the deposit chain cannot give or do, as the failure of a call; anything else stays as it was thrown. */
export function toFailure(error: unknown): unknown {
  if (error instanceof ControlRefusal) return error.failure;
  if (error instanceof StateUnavailableError) return notFound(error.message, { cause: error });
  if (
    error instanceof PayloadUnavailableError ||
    error instanceof EngineUnavailableError ||
    error instanceof DepositsUnavailableError ||
    error instanceof NobodyActiveError
  ) {
    return unavailable(error.message, { cause: error });
  }
  if (error instanceof ClockStoppedError) {
    return new Failure("server", "The node is shutting down, and the time of its chain stands still.", {
      cause: error,
    });
  }
  return error;
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
