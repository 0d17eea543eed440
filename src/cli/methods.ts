import { changesNothing } from "../access.ts";
import type { Method, Param } from "../api/definition.ts";
import { methodGroups } from "../api/method-groups.ts";

const WIDTH = 100;
const NUMBER_WIDTH = 4;
const HANGING = " ".repeat(NUMBER_WIDTH + 4);

/** The methods for people: number, name, parameters, what it does, other names. */
export function methodsText(): string {
  const sections = methodGroups.map(({ title, methods }) => [title, ...methods.flatMap(methodLines)].join("\n"));
  return `${sections.join("\n\n")}\n`;
}

function methodLines(method: Method): string[] {
  const { number, name, params, summary, aliases } = method;
  const place = `${String(number ?? "").padStart(NUMBER_WIDTH)}  `;
  const signature = [name, ...params.map(paramText)].join(" ");
  const others = aliases.length === 0 ? [] : wrapText(`Also ${aliases.join(", ")}`, WIDTH, HANGING);
  return [...wrapText(signature, WIDTH, place, HANGING), ...wrapText(summary, WIDTH, HANGING), ...others];
}

function paramText({ name, required, each }: Param): string {
  const text = each ? `${name}...` : name;
  return required ? text : `[${text}]`;
}

/** The same for programs. */
export function methodsJson(): string {
  const listed = methodGroups.flatMap(({ title, methods }) =>
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
      submission: !changesNothing(access),
    })),
  );
  return `${JSON.stringify(listed, null, 2)}\n`;
}

/** Lines of at most `width` characters, broken at blanks, unless a word alone is longer. */
export function wrapText(text: string, width: number, indent = "", hanging = indent): string[] {
  const [first = "", ...rest] = text.split(" ");
  const lines = [indent + first];
  for (const word of rest) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= width) lines[lines.length - 1] = line;
    else lines.push(hanging + word);
  }
  return lines;
}
