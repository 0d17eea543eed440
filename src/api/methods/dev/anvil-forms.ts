import type { JsonSchema } from "../../schemas.ts";

/** Hex quantity of the execution JSON-RPC API. */
export const QUANTITY: JsonSchema = { type: "string", pattern: "^0x(0|[1-9a-f][0-9a-f]*)$" };

/** Normalizes parameters that are passed as members of a single object. */
export function fromObject(...names: string[]): (params: unknown[]) => unknown[] {
  return (params) => {
    const [options] = params;
    if (params.length !== 1 || typeof options !== "object" || options === null) return params;
    const members = options as Record<string, unknown>;
    return Object.keys(members).every((name) => names.includes(name))
      ? names.map((name) => members[name] ?? null)
      : params;
  };
}
