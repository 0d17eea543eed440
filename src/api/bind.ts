import type { z } from "zod";
import { TimeSlice, yieldToEventLoop } from "../async/time-slice.ts";
import { type Failure, invalidParams } from "../errors/failure.ts";
import type { Params } from "../server/method-table.ts";
import type { Method, Param } from "./definition.ts";
import { elementSchema, firstMessage, readWith, wrongAt } from "./params/schema.ts";

/** What a handler is called with, by the keys of its parameters. */
export type Args = Record<string, unknown>;

/** A longer list is read with turns of the event loop in between. */
const ITEMS_AT_ONCE = 64;

/**
 * Turns the parameters of a call into the arguments of its handler, or throws what is wrong with them. There is a promise only
 * where a list is long.
 */
export function bind(signature: Signature, params: Params): Args | Promise<Args> {
  const given = Array.isArray(params)
    ? byPosition(signature, signature.arrange ? signature.arrange(params) : params)
    : byName(signature, params);
  const args: Args = {};
  let longLists: [key: string, list: List][] | undefined;
  for (const [position, param] of signature.params.entries()) {
    const value = given(param, position);
    if (value === undefined || (value === null && !param.required)) {
      if (param.required) throw missing(signature, param);
      continue;
    }
    const list = listOf(param, value);
    if (list === undefined) {
      args[param.key] = read(param.schema, value, `The parameter "${param.name}"`);
    } else if (list.items.length <= ITEMS_AT_ONCE) {
      args[param.key] = list.items.map((item, index) => read(list.schema, item, list.subject(index)));
    } else {
      longLists ??= [];
      longLists.push([param.key, list]);
    }
  }
  return longLists === undefined ? args : withLists(args, longLists);
}

/** The schemas of `params` are those of the chain at hand. */
export type Signature = Pick<Method, "name" | "params" | "arrange">;
/** What was given for a parameter; for one that takes several items a list, whose elements are items or lists of them. */
type Lookup = (param: Param, position: number) => unknown;

/** A parameter whose elements are read one by one. */
interface List {
  items: unknown[];
  schema: z.ZodType;
  /** What a message about one of the items begins with. */
  subject(index: number): string;
}

/** Undefined for what is no list, whether or not it should be one. */
function listOf({ name, schema, each }: Param, given: unknown): List | undefined {
  if (each) {
    const items = (given as unknown[]).flat();
    return { items, schema, subject: (index) => `Item ${index} of the parameter "${name}"` };
  }
  const element = elementSchema(schema);
  if (element === undefined || !Array.isArray(given)) return undefined;
  return { items: given, schema: element, subject: (index) => `The parameter "${name}" ${wrongAt(index)}` };
}

async function withLists(args: Args, lists: readonly [key: string, list: List][]): Promise<Args> {
  await yieldToEventLoop();
  const slice = new TimeSlice();
  for (const [key, { items, schema, subject }] of lists) {
    const values: unknown[] = [];
    for (const [index, item] of items.entries()) {
      values.push(read(schema, item, subject(index)));
      await slice.yieldIfDue();
    }
    args[key] = values;
  }
  return args;
}

function read(schema: z.ZodType, value: unknown, subject: string): unknown {
  const parsed = readWith(schema, value);
  if (!parsed.success) throw invalidParams(`${subject} ${firstMessage(parsed.error)}`);
  return parsed.data;
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
