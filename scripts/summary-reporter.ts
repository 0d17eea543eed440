import { writeFileSync } from "node:fs";
import type { Reporter, TestModule, Vitest } from "vitest/node";

export interface TestSummary {
  passed: number;
  failed: number;
  skipped: number;
  /** How many tests were skipped for which reason. */
  skipReasons: Record<string, number>;
}

/** Writes the counts of a test run as JSON to the file named by `--outputFile.summary`. */
export default class SummaryReporter implements Reporter {
  #output: string | undefined;

  onInit({ config }: Vitest): void {
    const { outputFile } = config;
    this.#output = typeof outputFile === "object" ? outputFile.summary : undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#output !== undefined) writeFileSync(this.#output, JSON.stringify(summarize(modules)));
  }
}

export function summarize(modules: readonly Pick<TestModule, "children" | "state">[]): TestSummary {
  const summary: TestSummary = { passed: 0, failed: 0, skipped: 0, skipReasons: {} };
  for (const module of modules) {
    const results = [...module.children.allTests()].map((test) => test.result());
    for (const result of results) {
      if (result.state !== "pending") summary[result.state]++;
      if (result.state !== "skipped") continue;
      const reason = result.note ?? "no reason given";
      summary.skipReasons[reason] = (summary.skipReasons[reason] ?? 0) + 1;
    }
    // A file that cannot be loaded, or whose hook fails, counts as a failed test.
    if (module.state() === "failed" && !results.some(({ state }) => state === "failed")) summary.failed++;
  }
  return summary;
}
