import type { CachePolicy, Params } from "../server/method-table.ts";
import type { Method } from "./definition.ts";

/** The parameters that identify a state or a block. */
const PLACES = ["stateId", "blockId", "slot"];

/** Returns how long the servers may cache the answer to a call; undefined when not at all. */
export function cachePolicyOf(definition: Method, params: Params): CachePolicy | undefined {
  const { dependsOn, cost } = definition;
  if (dependsOn === undefined || asksForSlot(definition, params)) return undefined;
  // The state of the head is at hand. Others may have to be replayed.
  const isPreparedAhead = cost === "cheap" || argumentOf(definition, params, "stateId") === "head";
  return { on: dependsOn, isPreparedAhead };
}

/** Returns whether a state or a block is identified by anything but a name or a root. */
export function asksForSlot(definition: Pick<Method, "params">, params: Params): boolean {
  return PLACES.some((place) => {
    const value = argumentOf(definition, params, place);
    if (value === undefined || value === null) return false;
    return typeof value !== "string" || !/^[a-z]+$|^0x/i.test(value);
  });
}

function argumentOf({ params: defined }: Pick<Method, "params">, params: Params, key: string): unknown {
  const position = defined.findIndex((param) => param.key === key);
  if (position < 0) return undefined;
  return Array.isArray(params) ? params[position] : params[defined[position]!.name];
}
