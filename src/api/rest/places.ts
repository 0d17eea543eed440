import { z } from "zod";
import type { Param, RestPath } from "../definition.ts";

/** Where in a REST request a parameter of a method stands. `type` is that of its JSON form, where it has one. */
export interface Place {
  readonly param: Param;
  readonly from: "path" | "query" | "header" | "body";
  readonly type: unknown;
}

/** The body is the first parameter that stands neither in the path nor in a header. */
export function placesOf(params: readonly Param[], { verb, path }: RestPath): Place[] {
  const isInPath = ({ name }: Param) => path.includes(`{${name}}`);
  const body = verb === "POST" ? params.find((param) => !isInPath(param) && !param.header) : undefined;
  return params.map((param) => ({ param, from: placeOf(param), type: jsonType(param) }));

  function placeOf(param: Param): Place["from"] {
    if (param === body) return "body";
    if (isInPath(param)) return "path";
    return param.header ? "header" : "query";
  }
}

function jsonType({ schema }: Param): unknown {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }).type;
}
