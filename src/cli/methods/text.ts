import type { MethodDefinition, Param } from "../../api/definition.ts";

/** Width of text output in columns. */
export const WIDTH = 100;

/** Formats the method name with its parameter names, optional ones in brackets. */
export function signatureOf({ name, params }: MethodDefinition): string {
  return [name, ...params.map(paramText)].join(" ");
}

function paramText({ name, required, each }: Param): string {
  const text = each ? `${name}...` : name;
  return required ? text : `[${text}]`;
}

/** Wraps text at spaces to fit `width` characters. Longer words are not broken. */
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
