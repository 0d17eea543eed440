import type { Method, Param } from "../../api/definition.ts";

/** Columns of what is printed for people. */
export const WIDTH = 100;

/** The name of a method and those of its parameters. */
export function signatureOf({ name, params }: Method): string {
  return [name, ...params.map(paramText)].join(" ");
}

function paramText({ name, required, each }: Param): string {
  const text = each ? `${name}...` : name;
  return required ? text : `[${text}]`;
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
