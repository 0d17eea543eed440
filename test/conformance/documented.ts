import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { MethodDefinition } from "../../src/api/definition.ts";
import { methodGroups } from "../../src/api/method-groups.ts";
import { openRpcDocument } from "../../src/api/openrpc.ts";

const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
// Components are compiled once as separate schemas, not for every method that references them.
const { methods, components } = JSON.parse(
  JSON.stringify(openRpcDocument(methodGroups, "0")).replaceAll('"#/components/schemas/', '"https://fanal/schemas/'),
) as ReturnType<typeof openRpcDocument>;
for (const [name, schema] of Object.entries(components.schemas)) {
  ajv.addSchema({ ...schema, $id: `https://fanal/schemas/${name}` });
}
const compiled = new Map<object, ValidateFunction>();

/** Validates results against the method's definition. */
export function documentedResult(name: string): ValidateFunction {
  return validator(documented(name).result.schema);
}

/** Validates positional parameters against the definition. Returns a validator and the value for each. */
export function documentedParams(
  { name, params }: MethodDefinition,
  given: readonly unknown[],
): [ValidateFunction, unknown][] {
  if (params.length === 0) return [];
  const validators = allDocumentedParams(name);
  return params
    .slice(0, given.length)
    .map(({ each }, position) => [validators[position]!, each ? given.slice(position).flat() : given[position]]);
}

/** Validators of all parameters, optional ones too. */
export function allDocumentedParams(name: string): ValidateFunction[] {
  return documented(name).params.map(({ schema }) => validator(schema));
}

function documented(name: string) {
  const found = methods.find((method) => method.name === name);
  if (found === undefined) throw new Error(`The document has no method ${name}.`);
  return found;
}

function validator(schema: object): ValidateFunction {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  return validate;
}
