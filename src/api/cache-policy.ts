import type { CachePolicy, Params } from "../server/method-table.ts";
import type { DispatchedMethod } from "./definition.ts";

/** Keys of the parameters that identify a state or block. */
export const SLOT_PARAMS: readonly string[] = ["stateId", "blockId", "slot"];

/** Returns the policy of the servers' response cache for a call, or undefined if the response must not be cached. */
export function cachePolicyOf(definition: DispatchedMethod, params: Params): CachePolicy | undefined {
  const { dependsOn, cost } = definition;
  if (dependsOn === undefined || isBySlot(definition, params)) return undefined;
  // The pending block changes with the transaction pool and with time.
  if (dependsOn === "evm") {
    return argumentOf(definition, params, "block") === "pending" ? undefined : { on: dependsOn, isPrewarmed: false };
  }
  // The head state is in memory, but other states may have to be replayed.
  const isPrewarmed = cost === "cheap" || argumentOf(definition, params, "stateId") === "head";
  return { on: dependsOn, isPrewarmed };
}

/** Returns true if a state or block is identified by its slot. */
export function isBySlot(definition: Pick<DispatchedMethod, "params">, params: Params): boolean {
  return SLOT_PARAMS.some((key) => {
    const value = argumentOf(definition, params, key);
    if (value === undefined || value === null) return false;
    return typeof value !== "string" || !/^[a-z]+$|^0x/i.test(value);
  });
}

function argumentOf({ params: defined }: Pick<DispatchedMethod, "params">, params: Params, key: string): unknown {
  const position = defined.findIndex((param) => param.key === key);
  if (position < 0) return undefined;
  return Array.isArray(params) ? params[position] : params[defined[position]!.name];
}
