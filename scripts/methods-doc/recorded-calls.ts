import type { MadeExample } from "./make-examples.ts";

/** Longer results are left out. */
const MAX_RESULT_LENGTH = 12_000;
/** Longer parameters are cut like results, so that shorter ones can be called as they are. */
const MAX_PARAM_LENGTH = 500;
/** Longer arrays are cut to one element. */
const MAX_ITEMS = 2;
/** Longer hex is cut to nothing. */
const MAX_HEX_LENGTH = 500;

/** Returns the example calls as JSON, one method per line, with long lists and bytes cut. */
export function recordedCalls(examples: ReadonlyMap<string, MadeExample>): string {
  const lines = Array.from(examples, ([name, { params, result, error }]) => {
    const shown = cut(result);
    const isShown = error === undefined && JSON.stringify(shown ?? null).length <= MAX_RESULT_LENGTH;
    return `${JSON.stringify(name)}: ${JSON.stringify({ params: params.map(cutParam), ...(isShown && { result: shown ?? null }) })}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}

function cutParam(value: unknown): unknown {
  return JSON.stringify(value).length <= MAX_PARAM_LENGTH ? value : cut(value);
}

function cut(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("0x") && value.length > MAX_HEX_LENGTH ? "0x" : value;
  if (Array.isArray(value)) return (value.length > MAX_ITEMS ? value.slice(0, 1) : value).map(cut);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cut(member)]));
}
