import { loadavg } from "node:os";

/** Prints a heading and the load average. */
export function heading(text: string): void {
  console.log(`\n### ${text}\n\nLoad average at the start: ${loadavg()[0]!.toFixed(1)}\n`);
}

/** Prints the header of a table. Returns a function that prints a row. The first column is text, the rest numbers. */
export function table(...columns: string[]): (...cells: (string | number)[]) => void {
  const row = (cells: readonly (string | number)[]) => console.log(`| ${cells.join(" | ")} |`);
  row(columns);
  row(columns.map((_, position) => (position === 0 ? "---" : "---:")));
  return (...cells) => row(cells);
}

export const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
export const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`;
export const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
