import type { MethodDefinition } from "../../src/api/definition.ts";
import { describeType } from "../../src/api/describe-type.ts";
import { failuresOf, paramJsonSchema } from "../../src/api/openrpc.ts";
import { NAMED_SCHEMAS } from "../../src/api/schemas.ts";
import { FAILURES } from "../../src/errors/failure.ts";
import { isReadOnly } from "../../src/server/access-class.ts";
import { callBlocks } from "./call-blocks.ts";
import { fenced, fencedJson } from "./fenced.ts";
import { EXAMPLES, GENERATED, INTRODUCTION } from "./introduction.ts";
import type { MadeExample } from "./make-examples.ts";
import { type MethodPage, methodPages } from "./pages.ts";
import { wrapped } from "./wrapped.ts";

/** The table of all methods. */
export const INDEX = "docs/methods.md";
/** Directory of the pages. */
const DIRECTORY = "docs/methods";

/** Renders the reference in Markdown, by path: the table of all methods, and a page per subject, which is not committed. */
export function renderReference(examples: ReadonlyMap<string, MadeExample>): Map<string, string> {
  const pages = methodPages();
  const links = new Map(
    pages.flatMap(({ name, methods }) => methods.map((method) => [method.name, `${name}.md#${anchorOf(method)}`])),
  );
  const render = ({ title, methods }: MethodPage) => [
    `# ${title}`,
    GENERATED,
    "[All methods, conventions and types](../methods.md)",
    EXAMPLES,
    ...methods.map((method) => methodSection(method, examples.get(method.name)!, links)),
  ];
  return new Map([
    [INDEX, document([INTRODUCTION, errorSection(), ...pages.map(indexSection), `## Types\n\n${typeList()}`])],
    ...pages.map((page) => [`${DIRECTORY}/${page.name}.md`, document(render(page))] as const),
  ]);
}

const document = (parts: readonly string[]) => `${parts.join("\n\n")}\n`;

function errorSection(): string {
  const rows = Object.values(FAILURES).map(({ code, title, description }) => `| ${code} | ${title} | ${description} |`);
  const head = ["## Errors", "", "| Code | Name | When |", "|---|---|---|"];
  const envelope = [
    "| -32700 | Parse error | The body is not JSON. |",
    "| -32600 | Invalid request | The message is not a JSON-RPC request, or exceeds a limit of JSON. |",
    "| -32601 | Method not found | There is no such method. |",
  ];
  return [...head, ...rows, ...envelope].join("\n");
}

function indexSection({ title, methods }: MethodPage): string {
  const head = ["| Method | | Parameters | REST | Since |", "|---|---|---|---|---|"];
  return [`## ${title}`, "", ...head, ...methods.map(indexRow)].join("\n");
}

/** A row with the anchor of links to the method. */
function indexRow(method: MethodDefinition): string {
  const { name, summary, params, rest, since = "" } = method;
  const names = params.map((param) => `\`${param.name}${param.required ? "" : "?"}\``);
  const paths = rest.map(({ verb, path }) => `\`${verb} ${path}\``);
  const cells = [`\`${name}\``, cell(summary), names.join(", "), paths.join(", "), since];
  return `| <a id="${anchorOf(method)}"></a>${cells.join(" | ")} |`;
}

/** GitHub's anchors have no dots and no upper case. */
const anchorOf = ({ name }: MethodDefinition) => name.toLowerCase().replaceAll(".", "");

function methodSection(method: MethodDefinition, example: MadeExample, links: ReadonlyMap<string, string>): string {
  const { name, summary, rest, aliases, sameAs, access, number, result, since, until } = method;
  const facts = [
    `- Result: \`${describeType(result.schema)}\``,
    ...rest.map((path) => `- REST: \`${path.verb} ${path.path}\`${path.until ? `, until ${path.until.fork}` : ""}`),
    ...(sameAs ? [`- Answers exactly like [\`${sameAs}\`](${links.get(sameAs)})`] : []),
    ...(aliases.length > 0 ? [`- Other names: ${aliases.map((alias) => `\`${alias}\``).join(", ")}`] : []),
    ...(since ? [`- Since ${since}`] : []),
    ...(until ? [`- Until ${until}`] : []),
    `- Errors: ${failuresOf(method)
      .map((kind) => `${FAILURES[kind].code} ${FAILURES[kind].title.toLowerCase()}`)
      .join(", ")}`,
    ...(access === "read" ? [] : [`- Access class: ${access}`]),
    ...(isReadOnly(access) ? [] : ["- Changes the node: in a batch, such calls run one after the other"]),
    ...(number === undefined ? [] : [`- Number ${number} of the interface`]),
  ];
  return [
    `## ${name}`,
    wrapped(summary),
    paramTable(method),
    facts.map(wrapped).join("\n"),
    ...exampleParts(method, example),
  ]
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

function exampleParts(method: MethodDefinition, { params, meta, error, result, fork }: MadeExample): string[] {
  const response = error === undefined ? { jsonrpc: "2.0", id: 1, result } : { jsonrpc: "2.0", id: 1, error };
  return [
    fork === "phase0" ? "" : `On a chain in ${fork}:`,
    ...callBlocks(method, params).map(fenced),
    fencedJson(response),
    ...(meta === undefined
      ? []
      : ['With `"meta": true` in the request, the response also has `meta`:', fencedJson(meta)]),
  ];
}

function typeList(): string {
  return Object.entries(NAMED_SCHEMAS)
    .map(([name, schema]) => {
      const note = typeof schema.description === "string" ? ` ${schema.description}` : "";
      return wrapped(`- \`${name}\`: \`${describeType(schema)}\`.${note}`);
    })
    .join("\n");
}
