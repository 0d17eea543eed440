import { StateUnavailableError } from "../chain/states/state-store.ts";
import { PayloadUnavailableError } from "../execution/engine.ts";
import { notFound, unavailable } from "../failure.ts";

/** What the chain or the execution engine cannot give, as the failure of a call; anything else as it was thrown. */
export function toFailure(error: unknown): unknown {
  if (error instanceof StateUnavailableError) return notFound(error.message, { cause: error });
  if (error instanceof PayloadUnavailableError) return unavailable(error.message, { cause: error });
  return error;
}

type Call = (...args: unknown[]) => unknown;

/** The same calls, by family and name, with what the chain throws turned into failures. */
export function failingAsCalls<Families extends object>(families: Families): Families {
  const translated = Object.entries(families).map(([family, calls]) => {
    const entries = Object.entries(calls as Record<string, Call>);
    return [family, Object.fromEntries(entries.map(([name, call]) => [name, translating(call)]))];
  });
  return Object.fromEntries(translated) as Families;
}

function translating(call: Call): Call {
  return (...args) => {
    const answer = call(...args);
    return answer instanceof Promise ? answer.catch(rethrow) : answer;
  };
}

function rethrow(error: unknown): never {
  throw toFailure(error);
}
