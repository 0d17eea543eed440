import { join } from "node:path";
import type { Page } from "playwright-core";
import { missingBrowser, openBrowser } from "../../test/support/browser/browser.ts";
import { milliseconds, printHeader, printRow, seconds } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { copyWithGenesisTime } from "./kept-state.ts";
import { type Program, ScaleNode } from "./scale-node.ts";
import { SECONDS_PER_SLOT, STATE_SLOT } from "./state.ts";
import type { Bench } from "./subject.ts";

/** In the page: records the durations of tasks over 50 ms, the least that browsers report. */
const RECORD_LONG_TASKS = `
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longTasks.push(duration);
  }).observe({ type: "longtask", buffered: true });
`;

/** Rows of the list, once they are loaded. */
const LOADED_ROWS = ".virtual tbody tr[aria-busy=false]";
const PENDING_ROWS = ".virtual tbody tr[aria-busy=true]";

/** Timeout for the first view of a node that has just started. */
const WARM_UP_MILLIS = 300_000;

interface Step {
  title: string;
  act(page: Page): Promise<void>;
  /** Text on screen when the step is done. */
  shows: string | RegExp;
}

const table = (page: Page) => page.getByRole("region", { name: "Validators" });
const scrollTo = (page: Page, share: number) =>
  table(page).evaluate(`(box) => { box.scrollTop = box.scrollHeight * ${share}; }`);

const STEPS: readonly Step[] = [
  {
    title: "open the list",
    act: async (page) => void (await page.getByRole("link", { name: "Validators" }).click()),
    shows: /\d{3} validators/,
  },
  {
    title: "scroll to the middle and to the end",
    act: async (page) => {
      await scrollTo(page, 0.5);
      await page.locator(LOADED_ROWS).first().waitFor();
      await scrollTo(page, 1);
    },
    shows: /\d{3} validators/,
  },
  {
    title: "filter: active exiting",
    act: async (page) => void (await page.getByLabel("Status").selectOption("active_exiting")),
    shows: /\d validators?/,
  },
  {
    title: "filter: active",
    act: async (page) => void (await page.getByLabel("Status").selectOption("active")),
    shows: /\d validators?/,
  },
  {
    title: "sort by balance",
    act: async (page) => void (await page.getByRole("button", { name: "Balance", exact: true }).click()),
    shows: /\d validators?/,
  },
  {
    title: "search by the start of a public key",
    act: async (page) => void (await page.getByLabel("Index or start of a public key").fill("0xa9")),
    shows: /\d validators?/,
  },
];

/** Measures how long the page takes to list, filter, sort and search validators, and whether it stays responsive. */
export async function benchPageLists({ kept, programs }: Bench): Promise<void> {
  const missing = missingBrowser();
  if (missing !== undefined) throw new Error(`The page cannot be measured: ${missing}.`);
  for (const program of programs) {
    printHeader(`page, ${program.title}`, "until shown", "longest task of the page");
    await withTempDirectory((directory) => measure(program, kept, directory));
  }
}

async function measure(program: Program, kept: Bench["kept"], directory: string): Promise<void> {
  const genesisTime = Math.floor(Date.now() / 1000) - STATE_SLOT * SECONDS_PER_SLOT;
  const stateFile = copyWithGenesisTime(kept, genesisTime, directory);
  const node = await ScaleNode.start(program, { ...kept, stateFile, dataDir: join(directory, "data") });
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.addInitScript(RECORD_LONG_TASKS);
    const began = performance.now();
    await page.goto(node.url);
    await page.getByRole("heading", { name: "Chain", exact: true }).waitFor({ timeout: WARM_UP_MILLIS });
    printRow("open the page after the start of the node", seconds(performance.now() - began), await longestTask(page));
    for (const step of STEPS) await measureStep(page, step);
  } finally {
    await browser.close();
    await node.stop();
  }
}

async function measureStep(page: Page, { title, act, shows }: Step): Promise<void> {
  await page.evaluate("window.longTasks = []");
  const began = performance.now();
  await act(page);
  await page.getByText(shows).first().waitFor();
  await page.locator(LOADED_ROWS).first().waitFor();
  await page.locator(PENDING_ROWS).first().waitFor({ state: "detached" });
  const took = performance.now() - began;
  printRow(title, seconds(took), await longestTask(page));
}

async function longestTask(page: Page): Promise<string> {
  const tasks = await page.evaluate<number[]>("window.longTasks");
  return tasks.length === 0 ? "below 50 ms" : milliseconds(Math.max(...tasks));
}
