import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { hasBrowser, openBrowser, WITHOUT_BROWSER } from "../support/browser.ts";
import { ProgramHere } from "../support/program-here.ts";
import { tempDirectory } from "../support/temp-directory.ts";

vi.setConfig({ testTimeout: 120_000 });

const HOSTILE_GRAFFITI = "<img src=x onerror=alert(1)>";
/** Where pictures of the page are kept for those who look. */
const SCREENSHOTS = process.env.FANAL_TEST_SCREENSHOTS;

interface Visit {
  page: Page;
  program: ProgramHere;
  /** Whatever a page should not have: errors, and requests to others than the node. */
  complaints: string[];
  go(address: string): Promise<void>;
}

async function visit(args: string[], { width = 1280, dark = false } = {}): Promise<Visit> {
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
  await program.untilLine(/The dev chain is running/);
  const context = await browser.newContext({
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

async function keepPicture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

it("is not there when it is not wanted", async () => {
  const program = await ProgramHere.served(["dev", "--validators", "8", "--no-web", "--data-dir", tempDirectory()]);
  expect((await fetch(program.url)).status).toBe(405);
  expect(program.output).not.toContain("in a browser");
});

let browser: Browser;

describe.skipIf(!hasBrowser)(`the page${hasBrowser ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  it("shows every subject of a chain, and what is done to it by hand", async () => {
    const { page, program, complaints, go } = await visit(["--graffiti", HOSTILE_GRAFFITI]);
    const call = <T>(method: string, params: unknown[] = []) => program.call<T>(method, params);
    const { head_slot: slot, head_block_root: root } = await call<Record<string, string>>("getChainHead");

    await go("");
    await page.getByRole("heading", { name: "Chain", exact: true }).waitFor();
    const headBlock = page.getByRole("link", { name: new RegExp(`^Slot ${slot}, on the chain`) });
    await headBlock.waitFor();
    expect(await page.getByRole("link", { name: /^Slot \d+, final/ }).count()).toBeGreaterThan(0);
    await page.getByText("fulu", { exact: true }).waitFor();
    await keepPicture(page, "chain");

    // A block comes: it is there without a reload, and nothing else has moved.
    const bandTop = async () => (await page.locator("svg.band").boundingBox())!.y;
    const before = await bandTop();
    await call("dev_advance");
    await page.getByRole("link", { name: new RegExp(`^Slot ${Number(slot) + 1}, on the chain`) }).waitFor();
    expect(await bandTop()).toBe(before);

    await headBlock.click();
    await page.getByText(root!).first().waitFor();
    await page.getByText(HOSTILE_GRAFFITI, { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Payload" }).waitFor();
    await keepPicture(page, "block");

    const search = page.getByRole("searchbox").first();
    await search.fill("3");
    await page.getByRole("link", { name: "Validator 3" }).click();
    const validator = await call<{ balance: string; validator: { pubkey: string } }>(
      "get_v1_beacon_states_stateId_validators_validatorId",
      ["head", "3"],
    );
    await page.getByText(validator.validator.pubkey).waitFor();
    await page.locator(".plot canvas").waitFor();
    await keepPicture(page, "validator");
    await search.fill(validator.validator.pubkey);
    await search.press("Enter");
    await page.waitForURL(`**/validator/${validator.validator.pubkey}`);
    await search.fill("nonsense");
    await page.getByText(/A slot, an epoch, a validator's index/).waitFor();
    await search.fill("");

    for (const [address, heading, text] of [
      ["epoch/1", "Epoch 1", "8 to 15"],
      ["state/finalized", "State “finalized”", "RANDAO mix"],
      ["pools", "Pools", "Voluntary exits"],
      ["peers", "Peers", "The node knows of no other node."],
      ["fork-choice", "Fork choice", "blocks are not final"],
      ["nowhere", "There is no such page", "The chain"],
    ] as const) {
      await go(address);
      await page.getByRole("heading", { name: heading }).waitFor();
      await page.getByText(text).first().waitFor();
      await keepPicture(page, address.replace("/", "-"));
    }
    for (const [address, problem] of [
      ["block/%", /block_id/],
      ["epoch/-1", "An epoch is a whole number"],
      ["methods/nonsense", "The node has no method nonsense"],
    ] as const) {
      await go(address);
      await page.getByRole("alert").getByText(problem).first().waitFor();
    }
    await go("block/99999");
    await page.getByRole("alert").first().waitFor();
    expect(complaints).toEqual([]);
  });

  it("moves a dev chain: a reorganisation, a slashing and a stall are made and seen", async () => {
    const { page, program, complaints, go } = await visit([]);
    await go("control");
    const act = async (button: string, fields: Record<string, string> = {}) => {
      const form = page
        .locator("form")
        .filter({ has: page.getByRole("button", { name: button, exact: true }) })
        .first();
      for (const [label, value] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(value);
      const deeds = page.locator("[aria-live] > div");
      const before = await deeds.count();
      await form.getByRole("button", { name: button, exact: true }).click();
      await deeds.nth(before).waitFor();
    };
    await act("Reorganise");
    await act("Slash", { validator: "2" });
    await act("Advance");
    await act("Only these online", { "all, none, 0.6 or [0,1]": "none" });
    await act("Advance", { slots: "3" });
    expect(await page.getByRole("alert").count()).toBe(0);
    await act("Exit", { validator: "999" });
    await page.getByRole("alert").waitFor();
    await keepPicture(page, "control");

    await page.getByRole("link", { name: "Chain", exact: true }).click();
    await page.getByRole("heading", { name: "Reorganisations" }).waitFor();
    expect(await page.getByRole("link", { name: /, orphaned/ }).count()).toBe(1);
    expect(await page.locator("svg.band .missed").count()).toBeGreaterThanOrEqual(3);
    await keepPicture(page, "after-control");
    await go("validator/2");
    await page.getByText("active slashed, slashed").waitFor();

    await go("control");
    await act("Take a snapshot");
    const { head_slot: slot } = await program.call<{ head_slot: string }>("getChainHead");
    await act("Only these online", { "all, none, 0.6 or [0,1]": "all" });
    await act("Advance", { slots: "2" });
    await act("Go back to 0x1");
    expect(await program.call("getChainHead")).toMatchObject({ head_slot: slot });
    // What was gone back from is not there any more.
    await go("");
    await page.getByRole("heading", { name: "Chain", exact: true }).waitFor();
    await vi.waitUntil(async () => (await page.getByRole("link", { name: /, orphaned/ }).count()) === 1);
    expect(complaints).toEqual([]);
  });

  it("calls every method with a form, and hears events", async () => {
    const { page, program, complaints, go } = await visit([]);
    await go("methods/get_v1_beacon_headers_blockId");
    const call = page.getByRole("button", { name: "Call", exact: true });
    await page.getByLabel(/block_id/).fill("head");
    await call.click();
    await page.getByRole("heading", { name: "Answer" }).waitFor();
    const { head_block_root: root } = await program.call<{ head_block_root: string }>("getChainHead");
    await page.getByText(`"${root}"`).waitFor();
    await page.getByRole("button", { name: "Copy" }).first().click();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toContain('"params":["head"]');
    await page.getByLabel(/block_id/).fill("nothing");
    await call.click();
    await page
      .getByRole("alert")
      .getByText(/block_id/)
      .waitFor();
    await keepPicture(page, "methods");

    await go("methods/subscribe");
    await page.getByRole("button", { name: "Listen" }).click();
    await page.getByText("Listening").waitFor();
    await program.call("dev_advance");
    await page.getByText("1 head").waitFor();
    expect(complaints).toEqual([]);
  });

  it("fits a narrow screen, goes by keyboard, and waits for a node that is away", async () => {
    const { page, program, complaints, go } = await visit([], { width: 360, dark: true });
    for (const address of ["", "block/head", "validator/1", "state", "pools", "fork-choice", "methods", "control"]) {
      await go(address);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await vi.waitUntil(async () => (await page.getByText("Asking the node").count()) === 0, { timeout: 20_000 });
      expect(await page.evaluate<number>("document.documentElement.scrollWidth"), address).toBeLessThanOrEqual(360);
      await keepPicture(page, `narrow-${address.replace("/", "-")}`);
    }
    await go("");
    await page
      .getByRole("link", { name: /^Slot \d+,/ })
      .last()
      .focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Block", exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await program.stop();
    await page
      .getByRole("status")
      .getByText(/does not answer/)
      .waitFor();
  });

  it("asks for the token of a node that wants one, and goes without events then", async () => {
    const token = join(tempDirectory(), "token");
    const { page, complaints, go } = await visit(["--rpc-token-file", token]);
    await go("");
    await page.getByLabel(/This node wants a token/).fill(readFileSync(token, "utf8").trim());
    // The browser tells of the refusals before.
    complaints.length = 0;
    await page.getByRole("button", { name: "Use it" }).click();
    await page
      .getByRole("link", { name: /^Slot \d+, on the chain/ })
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });
});
