import type { Params } from "../server/method-table.ts";
import type { Method } from "./definition.ts";

/** The parameters that stand for a state or a block. */
const PLACES = ["stateId", "blockId", "slot"];

/** Whether a state or a block is asked for by anything but a name or a root. */
export function asksForSlot(definition: Pick<Method, "params">, params: Params): boolean {
  return definition.params.some(({ key, name }, position) => {
    const value = Array.isArray(params) ? params[position] : params[name];
    if (!PLACES.includes(key) || value === undefined || value === null) return false;
    return typeof value !== "string" || !/^[a-z]+$|^0x/i.test(value);
  });
}
