import { type Failure, invalidParams } from "../failure.ts";
import type { Params } from "../server/method-table.ts";
import type { Method, Param } from "./definition.ts";
import { firstMessage } from "./params/schema.ts";

/** Turns the parameters of a call into the arguments of its handler, or throws what is wrong with them. */
export function bind(signature: Signature, params: Params): Record<string, unknown> {
  const given = Array.isArray(params)
    ? byPosition(signature, signature.arrange ? signature.arrange(params) : params)
    : byName(signature, params);
  const args: Record<string, unknown> = {};
  for (const [position, param] of signature.params.entries()) {
    const value = given(param, position);
    if (value === undefined || (value === null && !param.required)) {
      if (param.required) throw missing(signature, param);
      continue;
    }
    args[param.key] = param.each ? readEach(param, value) : read(param, value, `The parameter "${param.name}"`);
  }
  return args;
}

/** The schemas of `params` are those of the chain at hand. */
export type Signature = Pick<Method, "name" | "params" | "arrange">;
/** What was given for a parameter; for one that takes several items a list, whose elements are items or lists of them. */
type Lookup = (param: Param, position: number) => unknown;

function read(param: Param, value: unknown, subject: string): unknown {
  const parsed = param.schema.safeParse(value);
  if (!parsed.success) throw invalidParams(`${subject} ${firstMessage(parsed.error)}`);
  return parsed.data;
}

function readEach(param: Param, given: unknown): unknown[] {
  return (given as unknown[])
    .flat()
    .map((item, index) => read(param, item, `Item ${index} of the parameter "${param.name}"`));
}

function byPosition(signature: Signature, params: unknown[]): Lookup {
  if (params.length > signature.params.length && !signature.params.at(-1)?.each) {
    throw invalidParams(
      `${describeSignature(signature)}, but ${params.length} ${params.length === 1 ? "was" : "were"} given.`,
    );
  }
  return (param, position) => {
    if (!param.each) return params[position];
    if (position >= params.length) return undefined;
    const items = params.slice(position);
    // What is spread over the parameters is one item or more; only by name can a list be empty.
    if (items.flat().length === 0) throw invalidParams(`The parameter "${param.name}" must hold at least one item.`);
    return items;
  };
}

function byName(signature: Signature, params: Record<string, unknown>): Lookup {
  const known = new Set(signature.params.map(({ name }) => name));
  for (const name of Object.keys(params)) {
    if (!known.has(name)) {
      throw invalidParams(
        `${describeSignature(signature)}, but one called ${JSON.stringify(shorten(name))} was given.`,
      );
    }
  }
  return (param) => {
    if (!Object.hasOwn(params, param.name)) return undefined;
    return param.each ? [params[param.name]] : params[param.name];
  };
}

function missing(signature: Signature, param: Param): Failure {
  return invalidParams(`The parameter "${param.name}" is missing: ${describeSignature(signature)}.`);
}

function describeSignature({ name, params }: Signature): string {
  if (params.length === 0) return `${name} takes no parameters`;
  const list = params.map(
    (param) => `${param.name}${param.each ? " (one or more)" : param.required ? "" : " (optional)"}`,
  );
  return `${name} takes ${params.length === 1 ? "the parameter" : "the parameters"} ${list.join(", ")}`;
}

function shorten(name: string): string {
  return name.length <= 40 ? name : `${name.slice(0, 40)}…`;
}
