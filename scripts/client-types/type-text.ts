import type { JsonSchema } from "../../src/api/schemas.ts";

/** The TypeScript type of the values that a JSON schema describes. */
export function typeText(schema: JsonSchema): string {
  if (typeof schema.$ref === "string") return schema.$ref.split("/").at(-1)!;
  if (Array.isArray(schema.anyOf)) return union(schema.anyOf.map(typeText));
  if (Array.isArray(schema.enum)) return union(schema.enum.map((word) => JSON.stringify(word)));
  if ("const" in schema) return JSON.stringify(schema.const);
  switch (schema.type) {
    case "array":
      return `Array<${typeText((schema.items ?? {}) as JsonSchema)}>`;
    case "object":
      return objectText(schema);
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function objectText({ properties, required, additionalProperties }: JsonSchema): string {
  if (typeof additionalProperties === "object" && additionalProperties !== null) {
    return `Record<string, ${typeText(additionalProperties as JsonSchema)}>`;
  }
  if (typeof properties !== "object" || properties === null) return "object";
  const names = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) =>
    member({ name, required: names.has(name), description: schema.description, schema }),
  );
  return members.length === 0 ? "object" : `{ ${members.join("")} }`;
}

interface Member {
  name: string;
  required: boolean;
  description?: unknown;
  schema: JsonSchema;
}

/** A line of an object type, with what is said of it. */
export function member({ name, required, description, schema }: Member): string {
  const comment = typeof description === "string" && schema.$ref === undefined ? commentText(description) : "";
  return `${comment}${JSON.stringify(name)}${required ? "" : "?"}: ${typeText(schema)};\n`;
}

export function commentText(description: string): string {
  return `/** ${description.replaceAll("*/", "*\\/")} */\n`;
}

const union = (texts: string[]): string => [...new Set(texts)].join(" | ");
