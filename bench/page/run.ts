import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { missingBrowser, openBrowser } from "../../test/support/browser/browser.ts";
import { describeMachine } from "../support/machine.ts";
import { NodeProcess, type NodeProcessOptions } from "../support/node-process.ts";
import { quantile } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

/** Visits with an empty cache. */
const COLD_VISITS = 5;

interface Options {
  /** Another checkout, whose first view is measured in turns with this one's. */
  beside?: string;
  pages: number;
  seconds: number;
}

/** In the page: records the delay from a head event to its block on screen. Labels of blocks start with the slot. */
const WATCH_HEADS = `
  window.received = new Map();
  window.shown = [];
  const Socket = WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...args) {
      super(...args);
      this.addEventListener("message", ({ data }) => {
        const { params } = JSON.parse(data);
        if (params?.topic === "head") window.received.set(params.data.slot, performance.now());
      });
    }
  };
  new MutationObserver(() => {
    for (const [slot, at] of window.received) {
      if (!document.querySelector('svg a[aria-label^="Slot ' + slot + ',"]')) continue;
      window.received.delete(slot);
      requestAnimationFrame(() => window.shown.push(performance.now() - at));
    }
  }).observe(document, { subtree: true, childList: true, attributes: true });
`;

export async function benchPage({ beside, pages, seconds }: Options): Promise<void> {
  const missing = missingBrowser();
  if (missing !== undefined) throw new Error(`The page cannot be measured: ${missing}.`);
  await withTempDirectory(async (directory) => {
    const startNode = (name: string, options?: NodeProcessOptions) =>
      NodeProcess.start(name, ["dev", "--validators", "64", "--data-dir", join(directory, name)], options);
    const node = await startNode("node");
    const other = beside === undefined ? undefined : await startNode("beside", { bin: join(beside, "bin/fanal.js") });
    const browser = await openBrowser();
    try {
      console.log(`${describeMachine()}; a dev chain of 64 validators, a slot of 2 s\n`);
      await measureFirstViews(browser, other === undefined ? [node] : [other, node]);
      await other?.stop();
      console.log("\n| | |\n| --- | ---: |");
      await measureHeads(browser, node.url, seconds);
      await measureCrowd(browser, node, { pages, seconds });
    } finally {
      await browser.close();
      await Promise.all([node.stop(), other?.stop()]);
    }
  });
}

const row = (...cells: readonly string[]) => console.log(`| ${cells.join(" | ")} |`);

/** Opens the page in fresh browser contexts, whose caches are empty. Prints a column for each node. */
async function measureFirstViews(browser: Browser, nodes: readonly NodeProcess[]): Promise<void> {
  const columns = nodes.map(({ name, url }) => ({ name, url, views: [] as FirstView[] }));
  for (let visit = 0; visit < COLD_VISITS; visit++)
    for (const { url, views } of columns) views.push(await firstView(browser, url));
  const medians = (name: string, of: (view: FirstView) => number, unit = "") =>
    row(name, ...columns.map(({ views }) => `${quantile(views.map(of), 0.5).toFixed(0)}${unit}`));
  row("first view", ...columns.map(({ name }) => name));
  row("---", ...columns.map(() => "---:"));
  medians("requests", ({ requests }) => requests);
  medians("files, gzipped with headers", ({ bytes }) => bytes / 1000, " kB");
  medians("WebSocket messages, uncompressed", ({ messageBytes }) => messageBytes / 1000, " kB");
  medians("first contentful paint", ({ paint }) => paint, " ms");
  medians("until the chain is shown", ({ chain }) => chain, " ms");
}

interface FirstView {
  requests: number;
  bytes: number;
  messageBytes: number;
  paint: number;
  chain: number;
}

async function firstView(browser: Browser, url: string): Promise<FirstView> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const view = { requests: 0, bytes: 0, messageBytes: 0 };
  await session.send("Network.enable");
  session.on("Network.loadingFinished", ({ encodedDataLength }) => {
    view.bytes += encodedDataLength;
    view.requests++;
  });
  session.on("Network.webSocketFrameReceived", ({ response }) => {
    view.messageBytes += response.payloadData.length;
  });
  const began = performance.now();
  await open(page, url);
  const chain = performance.now() - began;
  await page.waitForLoadState("networkidle");
  const paint = await page.evaluate<number>(
    'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN',
  );
  await context.close();
  return { ...view, paint, chain };
}

async function measureHeads(browser: Browser, url: string, seconds: number): Promise<void> {
  const page = await browser.newPage();
  await page.addInitScript(WATCH_HEADS);
  await open(page, url);
  await delay(seconds * 1000);
  const shown = await page.evaluate<number[]>("window.shown");
  row("head events", String(shown.length));
  row("head event to screen, median", `${quantile(shown, 0.5).toFixed(0)} ms`);
  row("head event to screen, longest", `${quantile(shown, 1).toFixed(0)} ms`);
  await page.close();
}

async function measureCrowd(browser: Browser, node: NodeProcess, { pages, seconds }: Options): Promise<void> {
  const alone = await loadOf(node, seconds);
  const opened: Page[] = [];
  for (let count = 0; count < pages; count++) {
    const page = await browser.newPage();
    await open(page, node.url);
    opened.push(page);
  }
  const together = await loadOf(node, seconds);
  row("node CPU, no open pages", `${(alone * 100).toFixed(1)} % of a core`);
  row(`node CPU, ${pages} open pages`, `${(together * 100).toFixed(1)} % of a core`);
  await Promise.all(opened.map((page) => page.close()));
}

async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator('svg.band a[aria-label^="Slot"]').first().waitFor();
}

/** Returns the share of a core that the process uses. */
async function loadOf(node: NodeProcess, seconds: number): Promise<number> {
  const before = node.usage.cpuSeconds;
  await delay(seconds * 1000);
  return (node.usage.cpuSeconds - before) / seconds;
}
