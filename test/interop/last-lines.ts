import { onTestFailed } from "vitest";

const LAST_LINES = 60;

/** Shows the last lines of programs when the test fails. */
export function showLastLinesOnFailure(name: string, programs: readonly { lines: readonly string[] }[]): void {
  onTestFailed(() => {
    for (const { lines } of programs)
      console.error(`The last lines of ${name}:\n${lines.slice(-LAST_LINES).join("\n")}`);
  });
}
