import type { ChainForkConfig } from "@lodestar/config";
import { z } from "zod";
import { IrregularNumber } from "../../json/parse.ts";

/** What a parameter may look like in JSON, for the documents that are derived from the definitions. */
export type JsonForm = Record<string, unknown>;

export type ParamSchema<T> = z.ZodType<T>;

/** A schema for objects whose form depends on the fork that they belong to, and so on the chain's configuration. */
export interface ForkSchema<T> {
  /** What its values are, with the article. */
  readonly noun: string;
  /** What can be said without a chain, for the documents that are derived from the definitions. */
  readonly form: ParamSchema<unknown>;
  readonly forConfig: (config: ChainForkConfig) => ParamSchema<T>;
}

/**
 * A schema that reads a value with `parse`, where undefined stands for "not one". Messages of schemas are the rest of a
 * sentence that begins with the parameter's name: `must be …, but … was given.`
 */
export function paramSchema<T>(
  rightForm: string,
  jsonForm: JsonForm,
  parse: (value: unknown) => T | undefined,
): ParamSchema<T> {
  const schema = z
    .unknown()
    .meta(jsonForm)
    .transform((value, context) => {
      const parsed = parse(value);
      if (parsed !== undefined) return parsed;
      // As JSON, nobody can hold such a number without changing it.
      const isRightAsString = value instanceof IrregularNumber && parse(value.source) !== undefined;
      const advice = isRightAsString ? ` Write it as a string: ${describeGiven(value.source)}.` : "";
      return refuse(context, value, `must be ${rightForm}, but ${describeGiven(value)} was given.${advice}`);
    });
  PARSERS.set(schema, parse);
  return schema;
}

/** What the schemas of `paramSchema` parse with. */
const PARSERS = new WeakMap<z.ZodType, (value: unknown) => unknown>();

/** Reads the elements of long lists, for which a schema takes many times as long; undefined for what the schema refuses. */
export function elementReader<T>(schema: ParamSchema<T>): (value: unknown) => T | undefined {
  const parse = PARSERS.get(schema) as ((value: unknown) => T | undefined) | undefined;
  return parse ?? ((value) => schema.safeParse(value).data);
}

/** What a schema makes of a value. The schema itself is asked only where there is none faster, or something is wrong. */
export function readWith<T>(schema: ParamSchema<T>, value: unknown): z.ZodSafeParseResult<T> {
  const data = PARSERS.get(schema)?.(value) as T | undefined;
  return data === undefined ? schema.safeParse(value) : { success: true, data };
}

/** What the elements of lists are read with. */
const ELEMENTS = new WeakMap<z.ZodType, z.ZodType>();

/**
 * A schema for lists that reads them in one go; who has to do with long ones reads them element by element, with
 * `elementSchema`. `noun` says what the elements are, in the plural.
 */
export function listSchema<T>(form: z.ZodUnknown, noun: string, element: ParamSchema<T>): ParamSchema<T[]> {
  const schema = form.transform((value, context) => {
    if (!Array.isArray(value)) {
      return refuse(context, value, `must be an array of ${noun}, but ${describeGiven(value)} was given.`);
    }
    const elements: T[] = [];
    for (const [position, given] of value.entries()) {
      const parsed = element.safeParse(given);
      if (!parsed.success) return refuse(context, value, `${wrongAt(position)} ${firstMessage(parsed.error)}`);
      elements.push(parsed.data);
    }
    return elements;
  });
  ELEMENTS.set(schema, element);
  return schema;
}

/** What the elements of a `listSchema` are read with; undefined for every other schema. */
export function elementSchema(schema: z.ZodType): z.ZodType | undefined {
  return ELEMENTS.get(schema);
}

/** How the message of a list begins that goes on with that of its element at this position. */
export function wrongAt(position: number): string {
  return `has a wrong element at position ${position}: it`;
}

/** For schemas whose message says more than that the form is wrong. */
export function refuse(context: z.core.$RefinementCtx, input: unknown, message: string): never {
  context.issues.push({ code: "custom", message, input });
  return z.NEVER;
}

/** The message of a failed parse: our schemas put exactly one there. */
export function firstMessage(error: z.ZodError): string {
  return error.issues[0]?.message ?? "is not valid.";
}

const SHOWN_CHARACTERS = 40;

/** What a caller gave, as an error message shows it: recognisable, but never longer than a few words. */
export function describeGiven(value: unknown): string {
  if (value instanceof IrregularNumber) return `the number ${shorten(value.source)}`;
  if (typeof value === "string") return JSON.stringify(shorten(value));
  if (typeof value === "number") return `the number ${value}`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

function shorten(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
