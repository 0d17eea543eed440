import type { z } from "zod";
import { TimeSlice, yieldToEventLoop } from "../async/time-slice.ts";
import { type Failure, invalidParams } from "../errors/failure.ts";
import { truncate } from "../errors/truncate.ts";
import type { Params } from "../server/method-table.ts";
import type { DispatchedMethod, Param } from "./definition.ts";
import { elementSchema, firstMessage, invalidElementAt, parseWith } from "./params/schema.ts";

/** Arguments for a handler, by parameter key. */
export type Args = Record<string, unknown>;

/** Longer lists are parsed in time slices. */
const SYNC_ITEMS = 64;

/**
 * Converts the parameters of a call to handler arguments. Throws a `Failure` if they are invalid. Returns a promise
 * only for long lists.
 */
export function bind(signature: Signature, params: Params): Args | Promise<Args> {
  const positional = Array.isArray(params) ? (signature.normalizePositional?.(params) ?? params) : undefined;
  const lookUp = positional ? byPosition(signature, positional) : byName(signature, params as Record<string, unknown>);
  const args: Args = {};
  let longLists: [key: string, list: List][] | undefined;
  for (const [position, param] of signature.params.entries()) {
    const value = lookUp(param, position);
    if (value === undefined || (value === null && !param.required)) {
      if (param.required) throw missing(signature, param);
      continue;
    }
    const list = listOf(param, value);
    if (list === undefined) {
      const hint = () => positional && misplacedHint(signature, positional, position);
      args[param.key] = parseValue(param.schema, value, `The parameter "${param.name}"`, hint);
    } else if (list.items.length <= SYNC_ITEMS) {
      args[param.key] = list.items.map((item, index) => parseValue(list.schema, item, list.subject(index)));
    } else {
      longLists ??= [];
      longLists.push([param.key, list]);
    }
  }
  return longLists === undefined ? args : parseLists(args, longLists);
}

/** A method's name and parameters, with schemas for the chain. */
export type Signature = Pick<DispatchedMethod, "name" | "params" | "normalizePositional">;
/** Returns the value of a parameter. For `each`, a list whose elements are items or lists of items. */
type Lookup = (param: Param, position: number) => unknown;

/** A parameter whose elements are parsed one by one. */
interface List {
  items: unknown[];
  schema: z.ZodType;
  /** Returns the start of an error message about an item. */
  subject(index: number): string;
}

/** Returns undefined if the value is not a list. */
function listOf({ name, schema, each }: Param, value: unknown): List | undefined {
  if (each) {
    const items = (value as unknown[]).flat();
    return { items, schema, subject: (index) => `Item ${index} of the parameter "${name}"` };
  }
  const element = elementSchema(schema);
  if (element === undefined || !Array.isArray(value)) return undefined;
  return { items: value, schema: element, subject: (index) => `The parameter "${name}" ${invalidElementAt(index)}` };
}

async function parseLists(args: Args, lists: readonly [key: string, list: List][]): Promise<Args> {
  await yieldToEventLoop();
  const slice = new TimeSlice();
  for (const [key, { items, schema, subject }] of lists) {
    const values: unknown[] = [];
    for (const [index, item] of items.entries()) {
      values.push(parseValue(schema, item, subject(index)));
      await slice.yieldIfDue();
    }
    args[key] = values;
  }
  return args;
}

function parseValue(schema: z.ZodType, value: unknown, subject: string, hint?: () => string | undefined): unknown {
  const parsed = parseWith(schema, value);
  if (parsed.success) return parsed.data;
  const advice = hint?.();
  const message = `${subject} ${firstMessage(parsed.error)}`;
  throw invalidParams(advice === undefined ? message : `${message} ${advice}`);
}

/** A value that only free text accepts. */
const NONSENSE = "\0";
/** Longer values get no hint. */
const MAX_HINTED_LENGTH = 200;

/** Suggests a better place for an invalid positional value: swapped with another value, or in an optional parameter. */
function misplacedHint(signature: Signature, params: readonly unknown[], position: number): string | undefined {
  const value = params[position];
  // A wrong number is more likely to be out of range than misplaced.
  if (typeof value !== "string" || !isShort(value)) return undefined;
  const accepts = ({ schema, each }: Param, candidate: unknown) =>
    !each && isShort(candidate) && parseWith(schema, candidate).success;
  const failed = signature.params[position]!;
  for (const [index, other] of signature.params.entries()) {
    if (index === position || !accepts(other, value)) continue;
    const isGiven = params[index] !== undefined && params[index] !== null;
    if (isGiven && accepts(failed, params[index])) {
      return `Swap the two: the order is ${signature.params.map(({ name }) => name).join(", ")}.`;
    }
    if (!isGiven && !accepts(other, NONSENSE) && !isCutHex(failed, value)) {
      return `Did you mean "${other.name}"? Pass it by name: {"${other.name}": ${JSON.stringify(value)}}.`;
    }
  }
  return undefined;
}

/** Number of hex digits in addresses, roots and public keys. */
const HEX_LENGTHS = [40, 64, 96];

/** Returns true if the value is hex of the wrong length for a parameter that takes hex of a fixed length. */
function isCutHex({ schema }: Param, value: string): boolean {
  if (!/^0x[0-9a-fA-F]*$/.test(value)) return false;
  return HEX_LENGTHS.some((length) => parseWith(schema, `0x${"0".repeat(length)}`).success);
}

function isShort(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value.length <= MAX_HINTED_LENGTH);
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
    // A list passed by position must not be empty. A list passed by name may be empty.
    if (items.flat().length === 0) throw invalidParams(`The parameter "${param.name}" needs at least one item.`);
    return items;
  };
}

function byName(signature: Signature, params: Record<string, unknown>): Lookup {
  const names = new Set(signature.params.map(({ name }) => name));
  for (const name of Object.keys(params)) {
    if (!names.has(name)) {
      throw invalidParams(
        `${describeSignature(signature)}, but one called ${JSON.stringify(truncate(name, 40))} was given.`,
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
