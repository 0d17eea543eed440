import type { Page } from "playwright-core";
import { describe, expect, it, vi } from "vitest";
import { accessibilityProblems } from "../support/browser/axe.ts";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Fills in a form, submits it and returns the notice of its outcome. */
async function act(page: Page, button: string, fields: Record<string, string> = {}): Promise<string> {
  const submit = page.getByRole("button", { name: button, exact: true });
  const form = page.locator("form").filter({ has: submit });
  for (const [label, value] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(value);
  return noticeAfter(page, () => submit.click());
}

async function noticeAfter(page: Page, work: () => Promise<void>): Promise<string> {
  const notices = page.getByRole("log").getByRole("listitem");
  const before = await notices.count();
  await work();
  await notices.nth(before).waitFor();
  const text = (await notices.first().textContent()) ?? "";
  expect(text).toMatch(/^\s*\d\d:\d\d:\d\d/);
  return text;
}

describe("the control page", () => {
  withBrowser();

  it("advances the chain with one primary action", async () => {
    const { page, program, complaints, go } = await visit([]);
    await go("control");
    const { slot } = await program.call<{ slot: string }>("getChainTime");
    expect(await act(page, "Advance")).toContain(`Advanced to slot ${Number(slot) + 1}. Head: block 0x`);
    expect(await page.locator("button.primary").allTextContents()).toEqual(["Advance"]);
    expect(await act(page, "Advance", { Number: "2" })).toContain(`slot ${Number(slot) + 3}`);
    await page.getByLabel("Unit").selectOption("epochs");
    await act(page, "Advance", { Number: "1" });
    await page.getByText(`Slot ${Number(slot) + 11}. Time is paused.`).waitFor();
    await page.getByLabel("Unit").selectOption("until finalized");
    expect(await page.getByLabel("Number", { exact: true }).count()).toBe(0);
    await act(page, "Advance");
    await keepPicture(page, "control");
    expect(await accessibilityProblems(page)).toEqual([]);
    const head = await program.call<{ head_block_root: string }>("getChainHead");
    await page.getByRole("log").getByRole("link").first().click();
    await page.waitForURL(`**/block/${head.head_block_root}`);
    expect(complaints).toEqual([]);
  });

  it("shows a reorg, a slashing and a stall", async () => {
    const { page, complaints, go } = await visit([]);
    await go("control");
    expect(await act(page, "Reorganise")).toMatch(/Replaced the head of slot \d+ by block/);
    expect(await act(page, "Slash", { Validator: "2" })).toContain("proposer slashing of validator 2");
    await act(page, "Advance");
    expect(await act(page, "Set online", { Online: "none" })).toContain("0 validators online, 16 offline");
    await act(page, "Advance", { Number: "3" });
    expect(await page.getByRole("alert").count()).toBe(0);
    await act(page, "Exit", { Validator: "999" });
    await page.getByRole("alert").waitFor();

    await page.getByRole("link", { name: "Chain", exact: true }).click();
    await page.getByRole("heading", { name: "Reorganisations" }).waitFor();
    expect(await page.getByRole("link", { name: /, orphaned/ }).count()).toBe(1);
    expect(await page.locator("svg.band .missed").count()).toBeGreaterThanOrEqual(3);
    await keepPicture(page, "after-control");
    await go("validator/2");
    await page.getByText("active slashed, slashed").waitFor();
    expect(complaints).toEqual([]);
  });

  it("lists snapshots, also those of other clients, and reverts to them", async () => {
    const { page, program, complaints, go } = await visit([]);
    await go("control");
    await page.getByText("No snapshot has been taken").waitFor();
    const take = page.getByRole("button", { name: "Take a snapshot" });
    expect(await noticeAfter(page, () => take.click())).toContain("Took snapshot 0x1");
    const { head_slot: slot } = await program.call<{ head_slot: string }>("getChainHead");
    await program.call("dev_advance", [2]);
    await program.call("dev_snapshot");
    await program.call("dev_advance", [1]);
    const rows = page.getByRole("region", { name: "Snapshots" }).locator("tbody tr");
    await vi.waitUntil(async () => (await rows.count()) === 2);
    const cells = await rows.first().locator("th, td").allTextContents();
    expect(cells.slice(0, 2)).toEqual(["0x2", String(Number(slot) + 2)]);
    await page.reload();
    await rows.nth(1).waitFor();
    const revert = page.getByRole("button", { name: "Revert to 0x1" });
    expect(await noticeAfter(page, () => revert.click())).toContain("Reverted to snapshot 0x1");
    expect(await program.call("getChainHead")).toMatchObject({ head_slot: slot });
    await page.getByText("No snapshot has been taken").waitFor();
    await page.getByText(`Slot ${slot}. Time is paused.`).waitFor();
    // The reverted blocks are gone.
    await go("");
    await page.getByRole("link", { name: new RegExp(`^Slot ${slot}, on the chain`) }).waitFor();
    expect(await page.getByRole("link", { name: /, orphaned/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
