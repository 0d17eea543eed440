export type JsonSchema = Readonly<Record<string, unknown>>;

/** Schema for an object with the given members. Additional members are allowed, since later forks add some. */
export function object(members: Record<string, JsonSchema>, optional: Record<string, JsonSchema> = {}): JsonSchema {
  return { type: "object", properties: { ...members, ...optional }, required: Object.keys(members) };
}

export function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

/** Schema for an object with arbitrary keys. */
export function dictionary(values: JsonSchema): JsonSchema {
  return { type: "object", additionalProperties: values };
}

export function either(...forms: JsonSchema[]): JsonSchema {
  return { anyOf: forms };
}

/** Schema for a value that has exactly one of the forms. */
export function oneOf(...forms: JsonSchema[]): JsonSchema {
  return { oneOf: forms };
}

export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

export const text: JsonSchema = { type: "string" };
export const number: JsonSchema = { type: "number" };
export const boolean: JsonSchema = { type: "boolean" };
export const nothing: JsonSchema = { type: "null" };
export const isTrue: JsonSchema = { type: "boolean", const: true };

/** Schema for a named result. */
export function reference(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
