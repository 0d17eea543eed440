import type { ChainForkConfig } from "@lodestar/config";
import { z } from "zod";
import { truncate } from "../../errors/truncate.ts";
import { IrregularNumber } from "../../json/parse.ts";

/** JSON schema for a parameter, used in generated documents. */
export type JsonForm = Record<string, unknown>;

export type ParamSchema<T> = z.ZodType<T>;

/**
 * Returns the JSON schema for a parameter. Forms that contain those of other schemas have getters for them, since only
 * documents need a form, and deriving all of them would slow every start.
 */
export function formOf(schema: z.ZodType): JsonForm {
  const { $schema: _dialect, ...form } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return form;
}

/** Schema for objects whose format depends on their fork, and thus on the chain configuration. */
export interface ForkSchema<T> {
  /** The object's name including its article, for error messages. */
  readonly noun: string;
  /** The schema if no chain is known, for generated documents. */
  readonly form: ParamSchema<unknown>;
  readonly forConfig: (config: ChainForkConfig) => ParamSchema<T>;
}

/** Suggests a fix for an invalid value in a complete sentence. Returns undefined if there is nothing to suggest. */
export type Hint = (value: unknown) => string | undefined;

/**
 * Creates a schema from a parser that returns undefined for invalid values. Messages continue a sentence that starts
 * with the parameter's name: `must be …, but … was given.` The hint comes after the message.
 */
export function paramSchema<T>(
  expected: string,
  jsonForm: JsonForm,
  parse: (value: unknown) => T | undefined,
  hint?: Hint,
): ParamSchema<T> {
  const schema = z
    .unknown()
    .meta(jsonForm)
    .transform((value, context) => {
      const parsed = parse(value);
      if (parsed !== undefined) return parsed;
      // A JSON parser may round such a number.
      const isValidAsString = value instanceof IrregularNumber && parse(value.source) !== undefined;
      const advice = isValidAsString ? `Write it as a string: ${describeValue(value.source)}.` : hint?.(value);
      const message = `must be ${expected}, but ${describeValue(value)} was given.`;
      return addIssue(context, value, advice === undefined ? message : `${message} ${advice}`);
    });
  PARSERS.set(schema, parse);
  return schema;
}

/** Parsers for the schemas created by `paramSchema` and `withParser`. */
const PARSERS = new WeakMap<z.ZodType, (value: unknown) => unknown>();

/** Gives a schema a parser that returns the same for valid values, and undefined for all others. */
export function withParser<T>(schema: ParamSchema<T>, parse: (value: unknown) => T | undefined): ParamSchema<T> {
  PARSERS.set(schema, parse);
  return schema;
}

/**
 * Returns the parser for a schema, which is many times faster than the schema itself. The parser returns undefined for
 * invalid values.
 */
export function elementParser<T>(schema: ParamSchema<T>): (value: unknown) => T | undefined {
  const parse = PARSERS.get(schema) as ((value: unknown) => T | undefined) | undefined;
  return parse ?? ((value) => schema.safeParse(value).data);
}

/**
 * Parses a value with a schema. The fast parser is tried first. If it fails, the schema itself creates the error
 * message.
 */
export function parseWith<T>(schema: ParamSchema<T>, value: unknown): z.ZodSafeParseResult<T> {
  const data = PARSERS.get(schema)?.(value) as T | undefined;
  return data === undefined ? schema.safeParse(value) : { success: true, data };
}

/** Element schemas for the schemas created by `listSchema`. */
const ELEMENTS = new WeakMap<z.ZodType, z.ZodType>();

/**
 * Creates a schema that parses a list synchronously. Long lists can be parsed element by element with `elementSchema`.
 * `noun` is the elements' plural name.
 */
export function listSchema<T>(form: z.ZodUnknown, noun: string, element: ParamSchema<T>): ParamSchema<T[]> {
  const schema = form.transform((value, context) => {
    if (!Array.isArray(value)) {
      return addIssue(context, value, `must be an array of ${noun}, but ${describeValue(value)} was given.`);
    }
    const elements: T[] = [];
    for (const [position, item] of value.entries()) {
      const parsed = element.safeParse(item);
      if (!parsed.success)
        return addIssue(context, value, `${invalidElementAt(position)} ${firstMessage(parsed.error)}`);
      elements.push(parsed.data);
    }
    return elements;
  });
  ELEMENTS.set(schema, element);
  return schema;
}

/** Returns the element schema of a `listSchema`, or undefined for any other schema. */
export function elementSchema(schema: z.ZodType): z.ZodType | undefined {
  return ELEMENTS.get(schema);
}

/** Returns the start of an error message about a list element. The element's own message continues it. */
export function invalidElementAt(position: number): string {
  return `has an invalid element at position ${position}: it`;
}

/** Fails a zod transform with a message. */
export function addIssue(context: z.core.$RefinementCtx, input: unknown, message: string): never {
  context.issues.push({ code: "custom", message, input });
  return z.NEVER;
}

/** Returns the message from a failed parse. Schemas in this folder add exactly one message. */
export function firstMessage(error: z.ZodError): string {
  return error.issues[0]?.message ?? "is not valid.";
}

const SHOWN_CHARACTERS = 40;

/** Describes a received value in an error message, shortened to 40 characters. */
export function describeValue(value: unknown): string {
  if (value instanceof IrregularNumber) return `the number ${truncate(value.source, SHOWN_CHARACTERS)}`;
  if (typeof value === "string") return JSON.stringify(truncate(value, SHOWN_CHARACTERS));
  if (typeof value === "number") return `the number ${value}`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}
