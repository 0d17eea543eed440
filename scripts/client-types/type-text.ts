import type { JsonSchema } from "../../src/api/schemas.ts";

/** Where a type is used. */
export interface TypeUse {
  /** True for parameters, where integers may also be bigints and arrays may be readonly. */
  readonly isInput?: boolean;
  /** True for a method of the execution layer, whose integers are hex quantities. */
  readonly isExecution?: boolean;
  /** Names of the types that differ between forks. */
  readonly forkTypes?: ReadonlySet<string>;
  /** Names of the types of enumerations, by their values. */
  readonly enums?: ReadonlyMap<string, string>;
}

/** Returns the TypeScript type of the values that a JSON schema describes. */
export function typeText(schema: JsonSchema, use: TypeUse = {}): string {
  if (typeof schema.$ref === "string") return referenceText(schema.$ref.split("/").at(-1)!, use);
  const forms = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(forms)) return union(forms.map((form) => typeText(form, use)));
  if (Array.isArray(schema.enum)) {
    return use.enums?.get(String(schema.enum)) ?? union(schema.enum.map((word) => JSON.stringify(word)));
  }
  if ("const" in schema) return JSON.stringify(schema.const);
  switch (schema.type) {
    case "array":
      return `${use.isInput ? "ReadonlyArray" : "Array"}<${typeText((schema.items ?? {}) as JsonSchema, use)}>`;
    case "object":
      return objectText(schema, use);
    case "integer":
      return use.isInput && !use.isExecution ? "number | bigint" : "number";
    case "string":
      return stringText(schema, use);
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function referenceText(name: string, { forkTypes }: TypeUse): string {
  return forkTypes?.has(name) ? `${name}<F>` : name;
}

const QUANTITY_INPUT = /^\^0x\[0-9a-fA-F\]\{1,\d+\}\$$/;
const ALTERNATIVES = /^\^\((.+)\)\$$/;

function stringText({ pattern }: JsonSchema, { isInput, isExecution }: TypeUse): string {
  if (typeof pattern !== "string") return "string";
  if (isInput && isExecution && QUANTITY_INPUT.test(pattern)) return "Hex | bigint";
  if (pattern.startsWith("^0x")) return "Hex";
  const alternatives = ALTERNATIVES.exec(pattern)?.[1]?.split("|") ?? [];
  const words = alternatives.filter((word) => /^[a-z]+$/.test(word));
  const numbers = isInput && isExecution && alternatives.includes("0") ? ["bigint"] : [];
  return union([...words.map((word) => JSON.stringify(word)), "string", ...numbers]);
}

function objectText({ properties, required, additionalProperties }: JsonSchema, use: TypeUse): string {
  if (typeof additionalProperties === "object" && additionalProperties !== null) {
    return `Record<string, ${typeText(additionalProperties as JsonSchema, use)}>`;
  }
  if (typeof properties !== "object" || properties === null) return "object";
  const members = properties as Record<string, JsonSchema>;
  const fork = forkMemberOf(members, use);
  if (fork !== undefined) return `Versioned<"${fork}", F>`;
  const names = new Set(Array.isArray(required) ? required : []);
  const lines = Object.entries(members).map(([name, schema]) =>
    member({ name, required: names.has(name), description: schema.description, schema }, use),
  );
  return lines.length === 0 ? "object" : `{ ${lines.join("")} }`;
}

/** Returns the name of a fork's type that stands beside its version: `{ version, data }`. */
function forkMemberOf(members: Record<string, JsonSchema>, { forkTypes }: TypeUse): string | undefined {
  if (Object.keys(members).join() !== "version,data") return undefined;
  const name = String(members.data!.$ref).split("/").at(-1)!;
  return forkTypes?.has(name) ? name : undefined;
}

interface Member {
  name: string;
  required: boolean;
  description?: unknown;
  schema: JsonSchema;
  /** Type of the member, if it has a name of its own. */
  type?: string | undefined;
}

/** Returns a line of an object type, with its description. */
export function member({ name, required, description, schema, type }: Member, use: TypeUse): string {
  const comment = typeof description === "string" ? commentText(description) : "";
  return `${comment}${JSON.stringify(name)}${required ? "" : "?"}: ${type ?? typeText(schema, use)};\n`;
}

/** Returns the description of a schema as a comment. */
export function described({ description }: JsonSchema): string {
  return typeof description === "string" ? commentText(description) : "";
}

export function commentText(description: string): string {
  return `/** ${description.replaceAll("*/", "*\\/")} */\n`;
}

/** Joins types. A plain string beside literals is written so that editors still complete the literals. */
function union(texts: string[]): string {
  const parts = [...new Set(texts.flatMap((text) => (/[<{(]/.test(text) ? [text] : text.split(" | "))))];
  const hasLiterals = parts.some((part) => part.startsWith('"'));
  return parts.map((part) => (part === "string" && hasLiterals ? "AnyString" : part)).join(" | ");
}
