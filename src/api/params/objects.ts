import { z } from "zod";
import { nearestName } from "../../errors/nearest-name.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { parseData } from "./eth.ts";
import { parseFixedHex } from "./scalars.ts";
import {
  addIssue,
  describeValue,
  elementParser,
  firstMessage,
  formOf,
  invalidElementAt,
  type ParamSchema,
  parseWith,
  withParser,
} from "./schema.ts";

export type FieldSchemas<T> = { readonly [Key in keyof T]-?: ParamSchema<NonNullable<T[Key]>> };

interface ObjectOptions {
  /** Unknown fields are ignored by default, as in geth. */
  unknownFields?: "ignored" | "refused";
}

/** Schema for an object with optional fields. A null field is treated as absent. */
export function optionalFields<T extends object>(
  noun: string,
  fields: FieldSchemas<T>,
  { unknownFields = "ignored" }: ObjectOptions = {},
): ParamSchema<T> {
  const schemas = Object.entries(fields) as [string, ParamSchema<unknown>][];
  const names = Object.keys(fields);
  const refusesUnknown = unknownFields === "refused";
  const parsers = schemas.map(([name, schema]) => [name, elementParser(schema)] as const);
  const parse = (value: unknown): T | undefined => {
    if (!isJsonObject(value) || (refusesUnknown && Object.keys(value).some((name) => !names.includes(name)))) {
      return undefined;
    }
    const parsed: Record<string, unknown> = {};
    for (const [name, parseField] of parsers) {
      const field = value[name];
      if (field === undefined || field === null) continue;
      const data = parseField(field);
      if (data === undefined) return undefined;
      parsed[name] = data;
    }
    return parsed as T;
  };
  const schema = z
    .unknown()
    .meta({
      type: "object",
      get properties() {
        return Object.fromEntries(schemas.map(([name, schema]) => [name, formOf(schema)]));
      },
      ...(refusesUnknown && { additionalProperties: false }),
    })
    .transform((value, context) => {
      if (!isJsonObject(value))
        return addIssue(context, value, `must be ${noun}, but ${describeValue(value)} was given.`);
      const unknown = refusesUnknown && Object.keys(value).find((name) => !names.includes(name));
      if (unknown) return addIssue(context, value, unknownField(unknown, names));
      const parsed: Record<string, unknown> = {};
      for (const [name, schema] of schemas) {
        const field = value[name];
        if (field === undefined || field === null) continue;
        const result = parseWith(schema, field);
        if (!result.success) {
          return addIssue(context, value, `has an invalid "${name}": it ${firstMessage(result.error)}`);
        }
        parsed[name] = result.data;
      }
      return parsed as T;
    });
  return withParser(schema, parse);
}

/** Schema for an object all of whose fields are required. Unknown fields are ignored. */
export function requiredFields<T extends object>(noun: string, fields: FieldSchemas<T>): ParamSchema<T> {
  const names = Object.keys(fields);
  const schema = optionalFields<T>(noun, fields).transform((parsed, context) => {
    const missing = names.find((name) => !(name in parsed));
    return missing === undefined ? parsed : addIssue(context, parsed, `has no "${missing}".`);
  });
  return schema.meta({ required: names });
}

/** Schema for an array. `noun` is the plural name of its elements. */
export function arrayOf<T>(noun: string, element: ParamSchema<T>, maxItems?: number): ParamSchema<T[]> {
  const bounds = maxItems === undefined ? "" : `at most ${maxItems} `;
  return z
    .unknown()
    .meta({
      type: "array",
      get items() {
        return formOf(element);
      },
      ...(maxItems !== undefined && { maxItems }),
    })
    .transform((value, context) => {
      if (!Array.isArray(value)) {
        return addIssue(context, value, `must be an array of ${bounds}${noun}, but ${describeValue(value)} was given.`);
      }
      if (maxItems !== undefined && value.length > maxItems) {
        return addIssue(context, value, `must have ${bounds}${noun}, but ${value.length} were given.`);
      }
      const elements: T[] = [];
      for (const [position, item] of value.entries()) {
        const result = parseWith(element, item);
        if (!result.success) {
          return addIssue(context, value, `${invalidElementAt(position)} ${firstMessage(result.error)}`);
        }
        elements.push(result.data);
      }
      return elements;
    });
}

/** Schema for an object whose keys are hex of a fixed size. */
export function hexRecord<T>(noun: string, keySize: number, element: ParamSchema<T>): ParamSchema<[Uint8Array, T][]> {
  return z
    .unknown()
    .meta({
      type: "object",
      get additionalProperties() {
        return formOf(element);
      },
    })
    .transform((value, context) => {
      if (!isJsonObject(value))
        return addIssue(context, value, `must be ${noun}, but ${describeValue(value)} was given.`);
      const entries: [Uint8Array, T][] = [];
      for (const [key, member] of Object.entries(value)) {
        if (parseFixedHex(key, keySize) === undefined) {
          return addIssue(context, value, `must be ${noun}, but ${describeValue(key)} is a key.`);
        }
        const result = parseWith(element, member);
        if (!result.success) {
          return addIssue(context, value, `has an invalid "${key}": it ${firstMessage(result.error)}`);
        }
        entries.push([parseData(key)!, result.data]);
      }
      return entries;
    });
}

function unknownField(name: string, known: readonly string[]): string {
  const similar = nearestName(name, known);
  const hint = similar === undefined ? "" : ` Did you mean "${similar}"?`;
  return `has an unknown member ${describeValue(name)}.${hint}`;
}
