import { type JsonSchema, NAMED_SCHEMAS } from "../../api/schemas.ts";

const REFERENCE = /^#\/components\/schemas\/(\w+)$/;
/** Keywords without a constraint. */
const ANNOTATIONS = new Set(["description"]);

/**
 * Returns where a value violates a schema, as a clause such as "slot is missing", or undefined. Supports the keywords
 * that method definitions use, and throws for others.
 */
export function findSchemaViolation(value: unknown, schema: JsonSchema, path = "data"): string | undefined {
  for (const [keyword, argument] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword)) continue;
    const check = KEYWORDS[keyword];
    if (check === undefined) throw new Error(`Unsupported schema keyword "${keyword}".`);
    const violation = check(value, argument, path);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

type Check = (value: unknown, argument: unknown, path: string) => string | undefined;

export const KEYWORDS: Readonly<Record<string, Check>> = {
  $ref: (value, reference, path) => findSchemaViolation(value, shapeOf(String(reference)), path),
  type: (value, type, path) => (hasType(value, String(type)) ? undefined : `${path} is not of type ${type}`),
  properties: (value, properties, path) => {
    for (const [name, schema] of Object.entries(properties as Record<string, JsonSchema>)) {
      const violation = hasMember(value, name)
        ? findSchemaViolation(value[name], schema, `${path}.${name}`)
        : undefined;
      if (violation !== undefined) return violation;
    }
    return undefined;
  },
  required: (value, names, path) => {
    const missing = (names as string[]).find((name) => !hasMember(value, name));
    return missing === undefined ? undefined : `${path}.${missing} is missing`;
  },
  additionalProperties: (value, schema, path) => {
    for (const [name, member] of Object.entries(value as object)) {
      const violation = findSchemaViolation(member, schema as JsonSchema, `${path}.${name}`);
      if (violation !== undefined) return violation;
    }
    return undefined;
  },
  items: (value, schema, path) => {
    for (const [index, item] of (value as unknown[]).entries()) {
      const violation = findSchemaViolation(item, schema as JsonSchema, `${path}[${index}]`);
      if (violation !== undefined) return violation;
    }
    return undefined;
  },
  anyOf: (value, forms, path) => closestViolation(value, forms as JsonSchema[], path),
  // The alternatives are mutually exclusive, so the first match is the only one.
  oneOf: (value, forms, path) => closestViolation(value, forms as JsonSchema[], path),
  not: (value, schema, path) =>
    findSchemaViolation(value, schema as JsonSchema, path) === undefined
      ? `${path} matches a forbidden schema`
      : undefined,
  pattern: (value, pattern, path) =>
    new RegExp(String(pattern)).test(String(value)) ? undefined : `${path} does not match ${pattern}`,
  enum: (value, values, path) =>
    (values as unknown[]).includes(value) ? undefined : `${path} is none of ${(values as unknown[]).join(", ")}`,
  const: (value, constant, path) => (value === constant ? undefined : `${path} is not ${constant}`),
  minimum: (value, min, path) => (Number(value) >= Number(min) ? undefined : `${path} is below ${min}`),
  maximum: (value, max, path) => (Number(value) <= Number(max) ? undefined : `${path} is above ${max}`),
};

/** Returns the violation with the longest path, which is that of the best-matching alternative. */
function closestViolation(value: unknown, forms: readonly JsonSchema[], path: string): string | undefined {
  const violations = forms.map((format) => findSchemaViolation(value, format, path));
  if (violations.includes(undefined)) return undefined;
  return (violations as string[]).reduce((best, next) => (depthOf(next) > depthOf(best) ? next : best));
}

const depthOf = (violation: string) => violation.split(" ", 1)[0]!.length;

function shapeOf(reference: string): JsonSchema {
  const schema = NAMED_SCHEMAS[REFERENCE.exec(reference)?.[1] ?? ""];
  if (schema === undefined) throw new Error(`Unknown schema "${reference}".`);
  return schema;
}

function hasMember(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name);
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
