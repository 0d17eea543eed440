import { type JsonSchema, NAMED_SCHEMAS } from "../../api/schemas.ts";
import {
  anyBoolean,
  anyButNull,
  anyHexString,
  anyNumber,
  anyOf,
  anyString,
  anyValue,
  arrayOf,
  type CallParams,
  type Check,
  decimalString,
  hexString,
  type Member,
  matchingString,
  objectOf,
  onlyNull,
  signedDecimalString,
} from "./json-scan.ts";

/** A value of an answer that a parameter of the call determines. */
export interface Echo {
  /** Path of the value. Elements of an array are `*`. */
  readonly path: readonly string[];
  readonly param: string;
  /** True if the value is the slot that determines the fork of the answer. */
  readonly isForkSlot?: boolean;
  /** Returns false if the value contradicts the parameter. */
  agrees(value: string, param: string, params: CallParams): boolean;
}

const REFERENCE = /^#\/components\/schemas\/(\w+)$/;
const FIXED_HEX = /^\^0x\[0-9a-f(?:A-F)?\]\{(\d+)\}\$$/;
const references = new Map<string, Check>();

/**
 * Compiles a schema to a check. The check is more lenient than the schema: it ignores enumerations, bounds and `not`,
 * and accepts uppercase hex and unquoted integers, because clients and later forks differ there.
 */
export function compileSchema(schema: JsonSchema, echoes: readonly Echo[] = []): Check {
  const { $ref, anyOf: anyForms, oneOf: oneForms, type } = schema;
  if (typeof $ref === "string") return compileReference($ref, echoes);
  const forms = anyForms ?? oneForms;
  if (Array.isArray(forms)) return anyOf(forms.map((form) => compileSchema(form, echoes)));
  if (type === "object") return compileObject(schema, echoes);
  if (type === "array") {
    return arrayOf(
      schema.items === undefined ? anyValue : compileSchema(schema.items as JsonSchema, below(echoes, "*")),
    );
  }
  const check = compileScalar(schema);
  const own = echoes.filter(({ path }) => path.length === 0);
  return own.length === 0 ? check : echoing(check, own);
}

/** Checks only the type of a value, and the first required member of an object. */
export function compileOutline(schema: JsonSchema): Check {
  const { $ref, anyOf: anyForms, oneOf: oneForms, type, required } = schema;
  if (typeof $ref === "string") return compileOutline(namedSchema($ref));
  const forms = anyForms ?? oneForms;
  if (Array.isArray(forms)) return anyOf(forms.map((form) => compileOutline(form)));
  if (type === "array") return arrayOf(anyValue);
  if (type !== "object") return type === undefined ? anyButNull : compileScalar(schema);
  const [first] = (required ?? []) as string[];
  return objectOf(first === undefined ? [] : [{ name: first, check: anyButNull, isRequired: true }]);
}

/** References are shared, and compiled at the first use. */
function compileReference(reference: string, echoes: readonly Echo[]): Check {
  if (echoes.length > 0) return compileSchema(namedSchema(reference), echoes);
  const known = references.get(reference);
  if (known !== undefined) return known;
  let compiled: Check | undefined;
  const check: Check = (scan, at) => {
    compiled ??= compileSchema(namedSchema(reference));
    return compiled(scan, at);
  };
  references.set(reference, check);
  return check;
}

function compileObject(schema: JsonSchema, echoes: readonly Echo[]): Check {
  const required = new Set((schema.required ?? []) as string[]);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const members = properties.map(([name, property]): Member => {
    return { name, check: compileSchema(property, below(echoes, name)), isRequired: required.has(name) };
  });
  return objectOf(members);
}

function compileScalar({ type, pattern }: JsonSchema): Check {
  switch (type) {
    case "string":
      return pattern === undefined ? anyString : compilePattern(String(pattern));
    case "boolean":
      return anyBoolean;
    case "null":
      return onlyNull;
    case "number":
    case "integer":
      return anyNumber;
    default:
      return anyButNull;
  }
}

const PATTERNS: ReadonlyMap<string, Check> = new Map([
  ["^(0|[1-9][0-9]*)$", decimalString],
  ["^(0|-?[1-9][0-9]*)$", signedDecimalString],
  ["^0x([0-9a-f]{2})*$", anyHexString],
]);

function compilePattern(pattern: string): Check {
  const digits = FIXED_HEX.exec(pattern)?.[1];
  if (digits !== undefined) return hexString(Number(digits) / 2);
  return PATTERNS.get(pattern) ?? matchingString(new RegExp(pattern));
}

function namedSchema(reference: string): JsonSchema {
  const schema = NAMED_SCHEMAS[REFERENCE.exec(reference)?.[1] ?? ""];
  if (schema === undefined) throw new Error(`Unknown schema "${reference}".`);
  return schema;
}

function below(echoes: readonly Echo[], step: string): Echo[] {
  return echoes.flatMap((echo) => (echo.path[0] === step ? [{ ...echo, path: echo.path.slice(1) }] : []));
}

/** Bounds the part of a list that a violation repeats. */
const MAX_SHOWN_PARAM = 100;

/** Requires that a value agrees with the parameters that are set. Notes the slot that determines the fork. */
function echoing(check: Check, echoes: readonly Echo[]): Check {
  return (scan, at) => {
    const end = check(scan, at);
    if (end < 0) return end;
    for (const { param: name, agrees, isForkSlot } of echoes) {
      const param = scan.params[name];
      if (param === undefined && !isForkSlot) continue;
      const value = scan.bytes.toString("latin1", at, end).replaceAll('"', "");
      if (isForkSlot) scan.slot = Number(value);
      if (param === undefined) continue;
      if (!agrees(value, param, scan.params)) {
        return scan.fail(`is ${value}, but ${name} ${param.slice(0, MAX_SHOWN_PARAM)} was requested`);
      }
    }
    return end;
  };
}
