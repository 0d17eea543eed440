import type { MethodDefinition } from "../../src/api/definition.ts";
import { describeType } from "../../src/api/describe-type.ts";
import { methodGroups } from "../../src/api/method-groups.ts";
import { failuresOf, OPENRPC_ERRORS, paramJsonSchema } from "../../src/api/openrpc.ts";
import { NAMED_SCHEMAS } from "../../src/api/schemas.ts";
import { isReadOnly } from "../../src/server/access-class.ts";
import { abridge } from "./abridge.ts";
import { INTRODUCTION } from "./introduction.ts";
import type { MadeExample } from "./make-examples.ts";

/** The document about all methods, in Markdown; each has its example. */
export function renderDocument(examples: ReadonlyMap<string, MadeExample>): string {
  const parts = [
    INTRODUCTION,
    errorSection(),
    contents(),
    ...methodGroups.flatMap(({ title, methods }) => [
      `## ${title}`,
      ...methods.map((method) => methodSection(method, examples.get(method.name)!)),
    ]),
    typeSection(),
  ];
  return `${parts.join("\n\n")}\n`;
}

function errorSection(): string {
  const rows = Object.values(OPENRPC_ERRORS).map(({ code, message, data }) => `| ${code} | ${message} | ${data} |`);
  const head = ["## Errors", "", "| Code | Name | When |", "|---|---|---|"];
  const tail = [
    "",
    "Besides, the envelope has the codes of JSON-RPC itself: -32700 (the body is not JSON), -32600 (not a request) and",
    "-32601 (no such method).",
  ];
  return [...head, ...rows, ...tail].join("\n");
}

function contents(): string {
  const lines = methodGroups.map(({ title, methods }) => {
    const links = methods.map(({ name }) => `[\`${name}\`](#${anchor(name)})`);
    return `- ${title}: ${links.join(", ")}`;
  });
  return ["## Methods", "", ...lines].join("\n");
}

/** As GitHub makes anchors of headings: the dots go, the rest in lower case. */
function anchor(name: string): string {
  return name.toLowerCase().replaceAll(".", "");
}

function methodSection(method: MethodDefinition, example: MadeExample): string {
  const { name, summary, rest, aliases, sameAs, access, number, result, since, until } = method;
  const facts = [
    `- Result: \`${describeType(result.schema)}\``,
    ...rest.map((path) => `- REST: \`${path.verb} ${path.path}\`${path.until ? `, until ${path.until.fork}` : ""}`),
    ...(sameAs ? [`- Answers exactly like [\`${sameAs}\`](#${anchor(sameAs)})`] : []),
    ...(aliases.length > 0 ? [`- Other names: ${aliases.map((alias) => `\`${alias}\``).join(", ")}`] : []),
    ...(since ? [`- Since ${since}`] : []),
    ...(until ? [`- Until ${until}`] : []),
    `- Errors: ${failuresOf(method)
      .map((kind) => `${OPENRPC_ERRORS[kind].code} ${OPENRPC_ERRORS[kind].message.toLowerCase()}`)
      .join(", ")}`,
    ...(access === "read" ? [] : [`- Access class: ${access}`]),
    ...(isReadOnly(access) ? [] : ["- Changes the node: in a batch, such calls run one after the other"]),
    ...(number === undefined ? [] : [`- Number ${number} of the interface`]),
  ];
  return [`### ${name}`, summary, paramTable(method), facts.join("\n"), ...exampleParts(name, example)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function paramTable({ params }: MethodDefinition): string {
  if (params.length === 0) return "";
  const rows = params.map((param) => {
    const type = describeType(paramJsonSchema(param));
    const need = param.each ? "one or more" : param.required ? "yes" : "no";
    return `| \`${param.name}\` | ${cell(type)} | ${need} | ${cell(param.description)} |`;
  });
  return ["| Parameter | Type | Required | Meaning |", "|---|---|---|---|", ...rows].join("\n");
}

const cell = (text: string) => text.replaceAll("|", "\\|");

function exampleParts(name: string, { params, meta, error, result, fork }: MadeExample): string[] {
  const request = { jsonrpc: "2.0", id: 1, method: name, params };
  const response = error === undefined ? { jsonrpc: "2.0", id: 1, result } : { jsonrpc: "2.0", id: 1, error };
  return [
    fork === "phase0" ? "" : `On a chain in ${fork}:`,
    fenced(request),
    fenced(response),
    meta === undefined
      ? ""
      : `With \`"meta": true\` in the request, the response also has \`meta\`: \`${JSON.stringify(meta)}\``,
  ];
}

function fenced(message: unknown): string {
  const { text, isWhole } = abridge(message);
  return `\`\`\`${isWhole ? "json" : "jsonc"}\n${text}\n\`\`\``;
}

function typeSection(): string {
  const lines = Object.entries(NAMED_SCHEMAS).map(([name, schema]) => {
    const note = typeof schema.description === "string" ? ` ${schema.description}` : "";
    return `- \`${name}\`: \`${describeType(schema)}\`.${note}`;
  });
  return ["## Types", "", ...lines].join("\n");
}
