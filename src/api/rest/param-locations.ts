import { z } from "zod";
import type { Param, RestPath } from "../definition.ts";

/** Where a parameter is found in a REST request. `type` is its JSON type, if it has one. */
export interface ParamLocation {
  readonly param: Param;
  readonly from: "path" | "query" | "header" | "body";
  readonly type: unknown;
}

/** Locates the parameters in a request. The body is the first parameter that is neither in the path nor in a header. */
export function locateParams(params: readonly Param[], { verb, path }: RestPath): ParamLocation[] {
  const isInPath = ({ name }: Param) => path.includes(`{${name}}`);
  const body = verb === "POST" ? params.find((param) => !isInPath(param) && !param.header) : undefined;
  return params.map((param) => ({ param, from: placeOf(param), type: jsonType(param) }));

  function placeOf(param: Param): ParamLocation["from"] {
    if (param === body) return "body";
    if (isInPath(param)) return "path";
    return param.header ? "header" : "query";
  }
}

function jsonType({ schema }: Param): unknown {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }).type;
}
