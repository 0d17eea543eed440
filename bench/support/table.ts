import { describeMachine } from "./machine.ts";

/** Prints the machine and what is measured on it. */
export function printSetting(text: string): void {
  console.log(`${describeMachine()}; ${text}\n`);
}

/** Prints the head of a Markdown table: a column of text, and columns of numbers. */
export function printHeader(...columns: readonly string[]): void {
  printRow(...columns);
  printRow(...columns.map((_, position) => (position === 0 ? "---" : "---:")));
}

export function printRow(...cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}

export const milliseconds = (millis: number) => (millis < 10 ? `${millis.toFixed(1)} ms` : `${millis.toFixed(0)} ms`);
export const seconds = (millis: number) => (millis < 1000 ? milliseconds(millis) : `${(millis / 1000).toFixed(2)} s`);
export const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
export const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
export const percent = (share: number | undefined, digits = 0) =>
  share === undefined ? "?" : `${(share * 100).toFixed(digits)} %`;
