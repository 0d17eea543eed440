import { type JsonSchema, NAMED_SCHEMAS } from "../../api/schemas.ts";
import { blockBody } from "./fork-members.ts";
import {
  anyBoolean,
  anyButNull,
  anyNumber,
  anyOf,
  anyString,
  anyValue,
  arrayOf,
  type Check,
  type JsonScan,
  type Member,
  objectOf,
  onlyNull,
} from "./json-scan.ts";
import {
  anyHexString,
  decimalString,
  hexString,
  matchingString,
  oneOfStrings,
  signedDecimalString,
} from "./string-checks.ts";

/** A relation of a value to the call, the network or other values. */
export interface Rule {
  /** Path of the value. Elements of an array are `*`. */
  readonly path: readonly string[];
  /** Returns the violation of the value between two positions, as a clause without subject, or undefined. */
  find(scan: JsonScan, at: number, end: number): string | undefined;
}

const REFERENCE = /^#\/components\/schemas\/(\w+)$/;
const FIXED_HEX = /^\^0x\[0-9a-f(?:A-F)?\]\{(\d+)\}\$$/;
const BLOCK_BODY = "#/components/schemas/BeaconBlockBody";
const references = new Map<string, Check>();

/**
 * Compiles a schema to a check. The check is more lenient than the schema: it ignores bounds and `not`, and accepts
 * uppercase hex, because clients and later forks differ there.
 */
export function compileSchema(schema: JsonSchema, rules: readonly Rule[] = []): Check {
  const own = rules.filter(({ path }) => path.length === 0);
  const check = compileShape(
    schema,
    rules.filter(({ path }) => path.length > 0),
  );
  return own.length === 0 ? check : withRules(check, own);
}

function compileShape(schema: JsonSchema, rules: readonly Rule[]): Check {
  const { $ref, anyOf: anyForms, oneOf: oneForms, type } = schema;
  if (typeof $ref === "string") return compileReference($ref, rules);
  const forms = anyForms ?? oneForms;
  if (Array.isArray(forms)) return anyOf(forms.map((form) => compileSchema(form, rules)));
  if (type === "object") return compileObject(schema, rules);
  if (type !== "array") return compileScalar(schema);
  return arrayOf(schema.items === undefined ? anyValue : compileSchema(schema.items as JsonSchema, below(rules, "*")));
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
function compileReference(reference: string, rules: readonly Rule[]): Check {
  if (reference === BLOCK_BODY) return blockBody(compileMembers(namedSchema(reference), rules));
  if (rules.length > 0) return compileSchema(namedSchema(reference), rules);
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

function compileObject(schema: JsonSchema, rules: readonly Rule[]): Check {
  return objectOf(compileMembers(schema, rules));
}

function compileMembers(schema: JsonSchema, rules: readonly Rule[]): Member[] {
  const required = new Set((schema.required ?? []) as string[]);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  return properties.map(([name, property]) => {
    return { name, check: compileSchema(property, below(rules, name)), isRequired: required.has(name) };
  });
}

function compileScalar({ type, pattern, enum: values }: JsonSchema): Check {
  switch (type) {
    case "string":
      if (Array.isArray(values)) return oneOfStrings(values);
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

function below(rules: readonly Rule[], step: string): Rule[] {
  return rules.flatMap((rule) => (rule.path[0] === step ? [{ ...rule, path: rule.path.slice(1) }] : []));
}

function withRules(check: Check, rules: readonly Rule[]): Check {
  return (scan, at) => {
    const end = check(scan, at);
    if (end < 0) return end;
    for (const rule of rules) {
      const violation = rule.find(scan, at, end);
      if (violation !== undefined) return scan.fail(violation);
    }
    return end;
  };
}
