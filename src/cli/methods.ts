import { families } from "../catalogue/catalogue.ts";
import type { Entry, EntryParam } from "../catalogue/entry.ts";
import { wrapText } from "./call/wrap-text.ts";

const WIDTH = 100;
const NUMBER_WIDTH = 4;
const HANGING = " ".repeat(NUMBER_WIDTH + 4);

/** The methods for people: number, name, parameters, what it does, other names. */
export function methodsText(): string {
  const sections = families
    .filter(({ entries }) => entries.length > 0)
    .map(({ title, entries }) => [title, ...entries.flatMap(entryLines)].join("\n"));
  return `${sections.join("\n\n")}\n`;
}

function entryLines(entry: Entry): string[] {
  const { number, name, params, summary, aliases } = entry;
  const place = `${String(number ?? "").padStart(NUMBER_WIDTH)}  `;
  const signature = [name, ...params.map(paramText)].join(" ");
  const others = aliases.length === 0 ? [] : wrapText(`Also ${aliases.join(", ")}`, WIDTH, HANGING);
  return [...wrapText(signature, WIDTH, place, HANGING), ...wrapText(summary, WIDTH, HANGING), ...others];
}

function paramText({ name, required, each }: EntryParam): string {
  const text = each ? `${name}...` : name;
  return required ? text : `[${text}]`;
}

/** The same for programs. */
export function methodsJson(): string {
  const methods = families.flatMap(({ title, entries }) =>
    entries.map(({ number, name, aliases, summary, params, rest, submission }) => ({
      number,
      name,
      aliases,
      family: title,
      summary,
      params: params.map((param) => ({
        name: param.name,
        required: param.required,
        description: param.description,
      })),
      rest,
      submission,
    })),
  );
  return `${JSON.stringify(methods, null, 2)}\n`;
}
