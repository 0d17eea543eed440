import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { tempDirectory } from "../directories/temp-directory.ts";
import { ProgramHere } from "../program/program-here.ts";
import { skipSuite } from "../suite/skip-suite.ts";
import { missingBrowser, openBrowser } from "./browser.ts";

/** Directory for screenshots. Undefined to take none. */
const SCREENSHOTS = process.env.FANAL_TEST_SCREENSHOTS;

interface Visit {
  page: Page;
  program: ProgramHere;
  /** Forbidden on a page: errors, warnings, dialogs, and requests to other servers. */
  complaints: string[];
  go(address: string): Promise<void>;
}

let browser: Browser | undefined;

/** Opens a browser for the tests of the surrounding suite, which are skipped if there is none. */
export function withBrowser(): void {
  const missing = missingBrowser();
  skipSuite(missing);
  beforeAll(async () => {
    if (missing === undefined) browser = await openBrowser();
  });
  afterAll(() => browser?.close());
}

/** Opens the page of a new paused dev chain with some finalized epochs. */
export async function visit(args: string[], { width = 1280, dark = false } = {}): Promise<Visit> {
  const program = await ProgramHere.served([
    "dev",
    "--validators",
    "16",
    "--warmup-epochs",
    "4",
    "--no-auto",
    "--data-dir",
    tempDirectory(),
    ...args,
  ]);
  await program.untilLine(/Dev chain is running/);
  const context = await browser!.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? "dark" : "light",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("request", (sent) => {
    if (!sent.url().startsWith(program.url) && !sent.url().startsWith("blob:")) complaints.push(sent.url());
  });
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const go = async (address: string) => {
    await page.goto(`${program.url}/#/${address}`);
  };
  return { page, program, complaints, go };
}

/** Takes a screenshot. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}
