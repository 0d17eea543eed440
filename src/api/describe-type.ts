import type { JsonSchema } from "./schemas.ts";

/** Describes a JSON schema in a short notation: `{ root: Root }`, `[Uint64]`, `string or integer`. */
export function describeType(schema: JsonSchema): string {
  if (typeof schema.$ref === "string") return schema.$ref.split("/").at(-1)!;
  const forms = formsOf(schema);
  if (forms.length > 1) return unique(forms.map(describeType)).join(" or ");
  if (Array.isArray(schema.enum)) return schema.enum.map((word) => JSON.stringify(word)).join(" or ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.type === "array") return `[${describeType((schema.items ?? {}) as JsonSchema)}]`;
  if (schema.type === "object") return describeObject(schema);
  return typeof schema.type === "string" ? schema.type : "any";
}

/** Returns the alternatives in a schema, including nested ones. */
function formsOf(schema: JsonSchema): JsonSchema[] {
  const forms = schema.anyOf ?? schema.oneOf;
  return Array.isArray(forms) ? forms.flatMap(formsOf) : [schema];
}

function describeObject({ properties, required, additionalProperties }: JsonSchema): string {
  if (typeof additionalProperties === "object" && additionalProperties !== null) {
    return `{ [name]: ${describeType(additionalProperties as JsonSchema)} }`;
  }
  if (typeof properties !== "object" || properties === null) return "object";
  const names = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties as Record<string, JsonSchema>);
  return `{ ${members.map(([name, member]) => `${name}${names.has(name) ? "" : "?"}: ${describeType(member)}`).join(", ")} }`;
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}
