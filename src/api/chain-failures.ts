import { StateUnavailableError } from "../chain/states/state-store.ts";
import { PayloadUnavailableError } from "../execution/engine.ts";
import { notFound, unavailable } from "../failure.ts";
import type { Method } from "./method.ts";

/** The same method, with what the chain or the execution engine cannot give turned into failures of its calls. */
export function failingAsCalls(method: Method): Method {
  const { handler, json, ssz } = method;
  return {
    ...method,
    ...(handler && { handler: translating(handler) }),
    ...(json && { json: translating(json) }),
    ...(ssz && { ssz: translating(ssz) }),
  };
}

function translating<Args extends unknown[], T>(
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

/** Anything else stays as it was thrown. */
function toFailure(error: unknown): unknown {
  if (error instanceof StateUnavailableError) return notFound(error.message, { cause: error });
  if (error instanceof PayloadUnavailableError) return unavailable(error.message, { cause: error });
  return error;
}
