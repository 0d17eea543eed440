import { type Failure, invalidParams } from "../errors.ts";
import type { Params } from "../server/method-table.ts";
import type { Entry, EntryParam } from "./entry.ts";
import { firstMessage } from "./params/schema.ts";

/** Turns the parameters of a call into the arguments of its entry, or throws what is wrong with them. */
export function bind(entry: Signature, params: Params): Record<string, unknown> {
  const given = Array.isArray(params) ? byPosition(entry, params) : byName(entry, params);
  const args: Record<string, unknown> = {};
  for (const [position, param] of entry.params.entries()) {
    const value = given(param.name, position);
    if (value === undefined || (value === null && !param.required)) {
      if (param.required) throw missing(entry, param);
      continue;
    }
    const parsed = param.schema.safeParse(value);
    if (!parsed.success) throw invalidParams(`The parameter "${param.name}" ${firstMessage(parsed.error)}`);
    args[param.name] = parsed.data;
  }
  return args;
}

type Signature = Pick<Entry, "name" | "params">;
type Lookup = (name: string, position: number) => unknown;

function byPosition(entry: Signature, params: unknown[]): Lookup {
  if (params.length > entry.params.length) {
    throw invalidParams(
      `${describeSignature(entry)}, but ${params.length} ${params.length === 1 ? "was" : "were"} given.`,
    );
  }
  return (_name, position) => params[position];
}

function byName(entry: Signature, params: Record<string, unknown>): Lookup {
  const known = new Set(entry.params.map(({ name }) => name));
  for (const name of Object.keys(params)) {
    if (!known.has(name)) {
      throw invalidParams(`${describeSignature(entry)}, but one called ${JSON.stringify(shorten(name))} was given.`);
    }
  }
  return (name) => (Object.hasOwn(params, name) ? params[name] : undefined);
}

function missing(entry: Signature, param: EntryParam): Failure {
  return invalidParams(`The parameter "${param.name}" is missing: ${describeSignature(entry)}.`);
}

function describeSignature({ name, params }: Signature): string {
  if (params.length === 0) return `${name} takes no parameters`;
  const list = params.map((param) => (param.required ? param.name : `${param.name} (optional)`));
  return `${name} takes ${params.length === 1 ? "the parameter" : "the parameters"} ${list.join(", ")}`;
}

function shorten(name: string): string {
  return name.length <= 40 ? name : `${name.slice(0, 40)}…`;
}
