import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

interface AxeResults {
  violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
}

let source: string | undefined;

/** Runs axe-core on the page. Returns rule, explanation and element of each violation. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  source ??= readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
  await page.evaluate(source);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html}: ${failureSummary}`),
  );
}
