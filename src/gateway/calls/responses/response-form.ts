import type { MethodDefinition } from "../../../api/definition.ts";
import { isTrue } from "../../../api/schemas.ts";

/** Operations whose REST body has no `data` wrapper. */
const UNWRAPPED_OPERATIONS: ReadonlySet<string> = new Set([
  "get_v1_debug_fork_choice",
  "get_v1_beacon_light_client_updates",
]);

/** True if the REST body has the member `data`. */
export function isWrapped({ name }: Pick<MethodDefinition, "name">): boolean {
  return !UNWRAPPED_OPERATIONS.has(name);
}

/** True if REST answers by status alone. */
export function isStatusOnly({ access, result, resultForStatus }: MethodDefinition): boolean {
  return resultForStatus !== undefined || (access === "submit" && result.schema === isTrue);
}
