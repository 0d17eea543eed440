import type { MethodDefinition, Param } from "../../api/definition.ts";
import { describeType } from "../../api/describe-type.ts";
import { failuresOf, paramJsonSchema } from "../../api/openrpc.ts";
import { type JsonSchema, NAMED_SCHEMAS } from "../../api/schemas.ts";
import { FAILURES } from "../../errors/failure.ts";
import { exampleLines } from "./example-call.ts";
import { signatureOf, WIDTH, wrapText } from "./text.ts";

const INDENT = "  ";
const NAMED_TYPES: Readonly<Record<string, JsonSchema>> = NAMED_SCHEMAS;
const REFERENCE = /"#\/components\/schemas\/(\w+)"/g;

/** Formats all details of a method as text. */
export async function methodText(method: MethodDefinition): Promise<string> {
  const { summary, aliases, sameAs, rest, result, params, access, since, until, needsConnection } = method;
  const notes = [
    ...(aliases.length > 0 ? [`Also ${aliases.join(", ")}.`] : []),
    ...(sameAs ? [`Same result as ${sameAs}.`] : []),
    ...(since ? [`Since ${since}.`] : []),
    ...(until ? [`Until ${until}.`] : []),
    ...(needsConnection ? ["WebSocket only."] : []),
    ...(access === "read" ? [] : [`Access class: ${access}.`]),
  ];
  const errors = failuresOf(method).map((kind) => {
    const { code, title, description } = FAILURES[kind];
    return `${code} ${title}: ${description}`;
  });
  const types = Array.from(namedTypes(result.schema), ([name, schema]) => {
    const note = typeof schema.description === "string" ? ` (${schema.description.replace(/\.$/, "")})` : "";
    return `${name}: ${describeType(schema)}${note}`;
  });
  const sections = [
    [...wrapText(signatureOf(method), WIDTH, "", INDENT + INDENT), ...[summary, ...notes].flatMap(indented)],
    section("Parameters", params.flatMap(paramLines)),
    section("Result", indented(describeType(result.schema))),
    section("Types", types.flatMap(indented)),
    section("Errors", errors.flatMap(indented)),
    section(
      "REST",
      rest.flatMap(({ verb, path }) => indented(`${verb} ${path}`)),
    ),
    section(
      "Example",
      (await exampleLines(method)).map((line) => INDENT + line),
    ),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

function paramLines(param: Param): string[] {
  const { name, required, each, description } = param;
  const need = each ? "one or more" : required ? "required" : "optional";
  return [
    ...wrapText(`${name} (${need}): ${describeType(paramJsonSchema(param))}`, WIDTH, INDENT, INDENT.repeat(3)),
    ...wrapText(description, WIDTH, INDENT.repeat(2)),
  ];
}

const indented = (text: string) => wrapText(text, WIDTH, INDENT, INDENT + INDENT);

/** Collects the named types referenced by a schema, transitively. */
function namedTypes(schema: JsonSchema): Map<string, JsonSchema> {
  const types = new Map<string, JsonSchema>();
  const collect = (part: JsonSchema) => {
    for (const [, name] of JSON.stringify(part).matchAll(REFERENCE)) {
      const shape = NAMED_TYPES[name!];
      if (shape === undefined || types.has(name!)) continue;
      types.set(name!, shape);
      collect(shape);
    }
  };
  collect(schema);
  return types;
}
