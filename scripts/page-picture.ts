/**
 * Takes the picture of the web page in the README, of a new dev chain with a reorganisation, missed slots and offline
 * validators. Needs Chromium.
 *
 *     npm run picture
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { startDevChain } from "../src/library/index.ts";
import { missingBrowser, openBrowser } from "../test/support/browser/browser.ts";

const FILE = join(import.meta.dirname, "..", "docs", "page.png");
const MAX_BYTES = 150_000;

const missing = missingBrowser();
if (missing !== undefined) throw new Error(`The picture cannot be taken: ${missing}.`);

await using chain = await startDevChain({ validators: 64, rpc: 0, web: true });
const browser = await openBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1160, height: 780 }, deviceScaleFactor: 1.25 });
  await page.goto(chain.url!);
  // The page collects the participation of epochs while it is open.
  const untilShown = async () => {
    const { head_slot: slot } = await chain.head();
    await page.locator(`svg.band a[aria-label^="Slot ${slot},"]`).first().waitFor();
  };
  for (const online of ["all", 0.9, "all", 0.8, 0.95, "all", "all"] as const) {
    await chain.client.dev_setValidators({ online });
    for (let part = 0; part < 2; part++) {
      await chain.advance({ slots: 4 });
      await untilShown();
    }
  }
  await chain.skip({ slots: 1 });
  await chain.advance({ slots: 3 });
  await chain.reorg(2);
  await chain.advance({ slots: 2 });
  await untilShown();
  await page.getByRole("heading", { name: "Reorganisations" }).waitFor();
  await page.screenshot({ path: FILE });
} finally {
  await browser.close();
}
const { size } = statSync(FILE);
if (size > MAX_BYTES) throw new Error(`docs/page.png has ${size} bytes, more than ${MAX_BYTES}.`);
process.stdout.write(`docs/page.png: ${size} bytes\n`);
