import { type JsonSchema, SHAPES } from "../../api/schemas.ts";

const REFERENCE = /^#\/components\/schemas\/(\w+)$/;
/** What tells a reader something, and a value nothing. */
const WORDS = new Set(["description"]);

/**
 * Where a value does not have the form of a schema, as a clause: "slot is missing"; undefined when it has. It knows the keywords
 * that the definitions of methods are written with, and throws for others.
 */
export function wrongForm(value: unknown, schema: JsonSchema, path = "data"): string | undefined {
  for (const [keyword, argument] of Object.entries(schema)) {
    if (WORDS.has(keyword)) continue;
    const check = KEYWORDS[keyword];
    if (check === undefined) throw new Error(`No result has been checked by the keyword ${keyword} yet.`);
    const complaint = check(value, argument, path);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

type Check = (value: unknown, argument: unknown, path: string) => string | undefined;

export const KEYWORDS: Readonly<Record<string, Check>> = {
  $ref: (value, reference, path) => wrongForm(value, shapeOf(String(reference)), path),
  type: (value, type, path) => (hasType(value, String(type)) ? undefined : `${path} is not of the type ${type}`),
  properties: (value, properties, path) => {
    for (const [name, schema] of Object.entries(properties as Record<string, JsonSchema>)) {
      const complaint = hasMember(value, name) ? wrongForm(value[name], schema, `${path}.${name}`) : undefined;
      if (complaint !== undefined) return complaint;
    }
    return undefined;
  },
  required: (value, names, path) => {
    const missing = (names as string[]).find((name) => !hasMember(value, name));
    return missing === undefined ? undefined : `${path}.${missing} is missing`;
  },
  additionalProperties: (value, schema, path) => {
    for (const [name, member] of Object.entries(value as object)) {
      const complaint = wrongForm(member, schema as JsonSchema, `${path}.${name}`);
      if (complaint !== undefined) return complaint;
    }
    return undefined;
  },
  items: (value, schema, path) => {
    for (const [place, item] of (value as unknown[]).entries()) {
      const complaint = wrongForm(item, schema as JsonSchema, `${path}[${place}]`);
      if (complaint !== undefined) return complaint;
    }
    return undefined;
  },
  anyOf: (value, forms, path) => bestComplaint(value, forms as JsonSchema[], path),
  // The forms of a result exclude each other, so that the first that fits is the only one.
  oneOf: (value, forms, path) => bestComplaint(value, forms as JsonSchema[], path),
  not: (value, schema, path) =>
    wrongForm(value, schema as JsonSchema, path) === undefined ? `${path} is of another form` : undefined,
  pattern: (value, pattern, path) =>
    new RegExp(String(pattern)).test(String(value)) ? undefined : `${path} is not written like ${pattern}`,
  enum: (value, values, path) =>
    (values as unknown[]).includes(value) ? undefined : `${path} is none of ${(values as unknown[]).join(", ")}`,
  const: (value, constant, path) => (value === constant ? undefined : `${path} is not ${constant}`),
  minimum: (value, least, path) => (Number(value) >= Number(least) ? undefined : `${path} is below ${least}`),
  maximum: (value, most, path) => (Number(value) <= Number(most) ? undefined : `${path} is above ${most}`),
};

/** What the form lacks that comes nearest: the one in which most had to be read to find something wrong. */
function bestComplaint(value: unknown, forms: readonly JsonSchema[], path: string): string | undefined {
  const complaints = forms.map((form) => wrongForm(value, form, path));
  if (complaints.includes(undefined)) return undefined;
  return (complaints as string[]).reduce((best, next) => (depthOf(next) > depthOf(best) ? next : best));
}

const depthOf = (complaint: string) => complaint.split(" ", 1)[0]!.length;

function shapeOf(reference: string): JsonSchema {
  const schema = SHAPES[REFERENCE.exec(reference)?.[1] ?? ""];
  if (schema === undefined) throw new Error(`No type is called ${reference}.`);
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
