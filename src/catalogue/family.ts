import type { Entry } from "./entry.ts";

/** Methods that belong together, under the heading that lists of methods give them. */
export interface Family {
  readonly title: string;
  readonly entries: readonly Entry[];
}

export interface Section {
  title: string;
  /** The last number of the interface document's section; undefined for methods that it does not have. */
  lastNumber?: number;
  entries: readonly Entry[];
}

/**
 * Families as the interface document has them: a numbered entry belongs where its number does, in the order of the
 * numbers; the others follow in the section that they are given in.
 */
export function familiesOf(sections: readonly Section[]): Family[] {
  const numbered = sections
    .flatMap(({ entries }) => entries)
    .flatMap((entry) => (entry.number === null ? [] : [{ entry, number: entry.number }]))
    .sort((a, b) => a.number - b.number);
  let previousLast = 0;
  return sections.map(({ title, lastNumber = previousLast, entries }) => {
    const first = previousLast + 1;
    previousLast = lastNumber;
    const ofNumbers = numbered.filter(({ number }) => number >= first && number <= lastNumber);
    return { title, entries: [...ofNumbers.map(({ entry }) => entry), ...entries.filter((e) => e.number === null)] };
  });
}
