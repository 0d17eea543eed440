import { families } from "../../src/catalogue/catalogue.ts";
import type { Entry } from "../../src/catalogue/entry.ts";
import { OPENRPC_ERRORS, paramJsonSchema } from "../../src/catalogue/openrpc.ts";
import { failuresOf } from "../../src/catalogue/results/failures.ts";
import { resultOf } from "../../src/catalogue/results/results.ts";
import { SHAPES } from "../../src/catalogue/results/shapes.ts";
import { abridge } from "./abridge.ts";
import { describeType } from "./describe-type.ts";
import { INTRODUCTION } from "./introduction.ts";
import type { MadeExample } from "./make-examples.ts";

/** The document about all methods, in Markdown. */
export function renderDocument(examples: ReadonlyMap<string, MadeExample>): string {
  const parts = [
    INTRODUCTION,
    errorSection(),
    contents(),
    ...families.flatMap(({ title, entries }) => [
      `## ${title}`,
      ...entries.map((entry) => entrySection(entry, examples.get(entry.name))),
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
  const lines = families.map(({ title, entries }) => {
    const links = entries.map(({ name }) => `[\`${name}\`](#${anchor(name)})`);
    return `- ${title}: ${links.join(", ")}`;
  });
  return ["## Methods", "", ...lines].join("\n");
}

/** As GitHub makes anchors of headings: the dots go, the rest in lower case. */
function anchor(name: string): string {
  return name.toLowerCase().replaceAll(".", "");
}

function entrySection(entry: Entry, example: MadeExample | undefined): string {
  const { name, summary, rest, aliases, sameAs, submission, number } = entry;
  const result = resultOf(name);
  const facts = [
    ...(result ? [`- Result: \`${describeType(result.schema)}\``] : []),
    ...(rest ? [`- REST: \`${rest.verb} ${rest.path}\``] : []),
    ...(sameAs ? [`- Answers exactly like [\`${sameAs}\`](#${anchor(sameAs)})`] : []),
    ...(aliases.length > 0 ? [`- Other names: ${aliases.map((alias) => `\`${alias}\``).join(", ")}`] : []),
    `- Errors: ${failuresOf(entry)
      .map((kind) => `${OPENRPC_ERRORS[kind].code} ${OPENRPC_ERRORS[kind].message.toLowerCase()}`)
      .join(", ")}`,
    ...(submission ? ["- Changes the node: in a batch, such calls run one after the other"] : []),
    ...(number === null ? [] : [`- Number ${number} of the interface`]),
  ];
  return [`### ${name}`, summary, paramTable(entry), facts.join("\n"), ...exampleParts(name, example)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function paramTable({ params }: Entry): string {
  if (params.length === 0) return "";
  const rows = params.map((param) => {
    const type = describeType(paramJsonSchema(param));
    const need = param.each ? "one or more" : param.required ? "yes" : "no";
    return `| \`${param.name}\` | ${cell(type)} | ${need} | ${cell(param.description)} |`;
  });
  return ["| Parameter | Type | Required | Meaning |", "|---|---|---|---|", ...rows].join("\n");
}

const cell = (text: string) => text.replaceAll("|", "\\|");

function exampleParts(name: string, example: MadeExample | undefined): string[] {
  if (example === undefined) return [];
  const { params, meta, error, result, fork } = example;
  const request = { jsonrpc: "2.0", id: 1, method: name, params };
  const response = error === undefined ? { jsonrpc: "2.0", id: 1, result } : { jsonrpc: "2.0", id: 1, error };
  return [
    fork === "phase0" ? "" : `On a chain in ${fork}:`,
    fenced(request),
    fenced(response),
    meta === undefined ? "" : `With \`"meta": true\` in the request, beside the result: \`${JSON.stringify(meta)}\``,
  ];
}

function fenced(message: unknown): string {
  const { text, isWhole } = abridge(message);
  return `\`\`\`${isWhole ? "json" : "jsonc"}\n${text}\n\`\`\``;
}

function typeSection(): string {
  const lines = Object.entries(SHAPES).map(([name, schema]) => {
    const note = typeof schema.description === "string" ? ` ${schema.description}` : "";
    return `- \`${name}\`: \`${describeType(schema)}\`.${note}`;
  });
  return ["## Types", "", ...lines].join("\n");
}
