export type JsonSchema = Readonly<Record<string, unknown>>;

/** An object with all of these members. It may have more: later forks and versions add members. */
export function object(members: Record<string, JsonSchema>, optional: Record<string, JsonSchema> = {}): JsonSchema {
  return { type: "object", properties: { ...members, ...optional }, required: Object.keys(members) };
}

export function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

/** An object whose member names are data. */
export function dictionary(values: JsonSchema): JsonSchema {
  return { type: "object", additionalProperties: values };
}

export function either(...forms: JsonSchema[]): JsonSchema {
  return { anyOf: forms };
}

export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

export const text: JsonSchema = { type: "string" };
export const number: JsonSchema = { type: "number" };
export const boolean: JsonSchema = { type: "boolean" };
export const nothing: JsonSchema = { type: "null" };
export const isTrue: JsonSchema = { type: "boolean", const: true };
