import type { MethodDefinition } from "../../api/definition.ts";
import type { MethodGroup } from "../../api/openrpc.ts";
import { isReadOnly } from "../../server/access-class.ts";
import { signatureOf, WIDTH, wrapText } from "./text.ts";

const NUMBER_WIDTH = 4;
const HANGING = " ".repeat(NUMBER_WIDTH + 4);

/** Formats methods as text: number, signature, summary and aliases. */
export function methodsText(groups: readonly MethodGroup[]): string {
  const sections = groups.map(({ title, methods }) => [title, ...methods.flatMap(methodLines)].join("\n"));
  return `${sections.join("\n\n")}\n`;
}

function methodLines(method: MethodDefinition): string[] {
  const { number, summary, aliases } = method;
  const prefix = `${String(number ?? "").padStart(NUMBER_WIDTH)}  `;
  const others = aliases.length === 0 ? [] : wrapText(`Also ${aliases.join(", ")}`, WIDTH, HANGING);
  return [...wrapText(signatureOf(method), WIDTH, prefix, HANGING), ...wrapText(summary, WIDTH, HANGING), ...others];
}

/** Formats methods as JSON. */
export function methodsJson(groups: readonly MethodGroup[]): string {
  const listed = groups.flatMap(({ title, methods }) =>
    methods.map(({ number, name, aliases, summary, params, rest, access }) => ({
      number: number ?? null,
      name,
      aliases,
      family: title,
      summary,
      params: params.map((param) => ({
        name: param.name,
        required: param.required,
        description: param.description,
      })),
      rest: rest[0] === undefined ? null : { verb: rest[0].verb, path: rest[0].path },
      submission: !isReadOnly(access),
    })),
  );
  return `${JSON.stringify(listed, null, 2)}\n`;
}
