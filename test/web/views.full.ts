import type { Page } from "playwright-core";
import { describe, expect, it, vi } from "vitest";
import { accessibilityProblems } from "../support/browser/axe.ts";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";

vi.setConfig({ testTimeout: 240_000 });

/** Addresses of all views. */
const VIEWS = [
  "",
  "block/head",
  "block/9",
  "epochs",
  "epoch/1",
  "validators",
  "validator/3",
  "state/finalized",
  "pools",
  "peers",
  "blobs",
  "fork-choice",
  "methods",
  "methods/get_v1_beacon_headers_blockId",
  "execution",
  "execution-block/12",
  "control",
  "nowhere",
];

/** Waits until nothing is loading. */
async function untilLoaded(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await vi.waitUntil(async () => (await page.locator("[aria-busy=true], .waiting:has-text('Loading')").count()) === 0, {
    timeout: 30_000,
  });
}

/** Returns the names of tables that do not fit. */
function wideTables(page: Page): Promise<string[]> {
  return page
    .locator(".scroll, .virtual")
    .evaluateAll((boxes) =>
      boxes.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.getAttribute("aria-label") ?? ""),
    );
}

describe("every view", () => {
  withBrowser();

  it.each([
    { width: 1400, dark: false },
    { width: 1400, dark: true },
    { width: 390, dark: false },
    { width: 390, dark: true },
  ])("is accessible and fits, $width wide, dark: $dark", async ({ width, dark }) => {
    const { page, program, complaints, go } = await visit(["--evm", "--eth-rpc-port", "0"], { width, dark });
    await program.call("dev_reorg", { depth: 2 });
    const titles = new Set<string>();
    const problems: string[] = [];
    for (const view of VIEWS) {
      await go(view);
      await untilLoaded(page);
      await keepPicture(page, `${view.replaceAll("/", "-") || "chain"}-${width}-${dark ? "dark" : "light"}`);
      problems.push(...(await accessibilityProblems(page)).map((problem) => `${view}: ${problem}`));
      const contentWidth = await page.evaluate<number>("document.documentElement.scrollWidth");
      if (contentWidth > width) problems.push(`${view}: is ${contentWidth} wide`);
      // Numbers are not cut at the end of a table.
      if (width < 400) problems.push(...(await wideTables(page)).map((name) => `${view}: cuts the table ${name}`));
      titles.add(await page.title());
    }
    expect(problems).toEqual([]);
    expect(titles.size).toBe(VIEWS.length);
    expect(complaints).toEqual([]);
  });
});
