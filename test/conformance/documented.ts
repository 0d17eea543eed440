import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Method } from "../../src/api/definition.ts";
import { methodGroups } from "../../src/api/method-groups.ts";
import { openRpcDocument } from "../../src/api/openrpc.ts";

const document = openRpcDocument(methodGroups, "0");
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema({ $id: "https://fanal/document", ...document });
/** By their places: results are checked on several forks. */
const compiled = new Map<string, ValidateFunction>();

/** Checks a result against what the method's own definition says of it. */
export function documentedResult(name: string): ValidateFunction {
  return validator(name, "result");
}

/** The same for positional parameters, each beside what checks it. */
export function documentedParams({ name, params }: Method, given: readonly unknown[]): [ValidateFunction, unknown][] {
  return params
    .slice(0, given.length)
    .map(({ each }, position) => [
      validator(name, `params/${position}`),
      each ? given.slice(position).flat() : given[position],
    ]);
}

function validator(name: string, place: string): ValidateFunction {
  const at = document.methods.findIndex((method) => method.name === name);
  const $ref = `https://fanal/document#/methods/${at}/${place}/schema`;
  const validate = compiled.get($ref) ?? ajv.compile({ $ref });
  compiled.set($ref, validate);
  return validate;
}
