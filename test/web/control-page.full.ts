import type { Locator, Page } from "playwright-core";
import { describe, expect, it, vi } from "vitest";
import { accessibilityProblems } from "../support/browser/axe.ts";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Fills in a form, submits it and returns the notice of its outcome. */
async function act(
  page: Page,
  button: string,
  fields: Record<string, string> = {},
  within: Page | Locator = page,
): Promise<string> {
  const submit = page.getByRole("button", { name: button, exact: true });
  const form = within.locator("form").filter({ has: submit });
  for (const [label, value] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(value);
  return noticeAfter(page, () => form.getByRole("button").click());
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

  it("makes payloads fail, and builders bid", async () => {
    const { page, program, complaints, go } = await visit(["--fork", "gloas", "--builders", "1"]);
    await go("control");
    const group = (legend: string) => page.getByRole("group", { name: legend, exact: true });
    const { slot } = await program.call<{ slot: string }>("getChainTime");
    const next = Number(slot) + 1;
    const inGroup = (legend: string) => (button: string, fields?: Record<string, string>) =>
      act(page, button, fields, group(legend));
    const [payloads, builders] = [inGroup("Payloads"), inGroup("Builders")];
    expect(await payloads("Withhold")).toContain(`Payloads will be faulty from slot ${next} to ${next}`);
    await act(page, "Advance");
    expect(await program.call("dev_getPayload")).toMatchObject({ payload_status: "empty", is_withheld: true });
    expect(await payloads("Reveal")).toMatch(/Revealed a payload\. Now full: block 0x/);
    await group("Payloads").getByLabel(/^As/).selectOption("invalid");
    await payloads("Falsify");
    await act(page, "Advance");
    expect(await program.call("dev_getPayload")).toMatchObject({ is_invalid: true });
    expect(await payloads("Delay", { "Slots late": "1" })).toContain("will be faulty");
    expect(await payloads("Withhold blobs")).toContain("will be faulty");
    expect(await payloads("Set votes", { Members: "0.5" })).toContain("Votes on payloads will be faulty");
    expect(await payloads("Abstain", { Slots: "0" })).toContain("Votes on payloads are honest");
    expect(await payloads("Withhold", { Slots: "0" })).toContain(`Payloads are honest from slot ${next + 2} on`);

    expect(await builders("Bid", { Gwei: "2000000", Slots: "all" })).toContain(
      `Builder 0 bids from slot ${next + 2} on`,
    );
    await act(page, "Advance");
    expect(await program.call("dev_getBuilders")).toMatchObject([{ last_bid: { outcome: "taken" } }]);
    expect(await builders("Bid", { Slots: "0" })).toContain("Builder 0 bids no more");
    expect(await builders("Withhold payloads")).toContain("Builder 0 withholds its payloads");
    expect(await builders("Top up")).toContain("The next payload contains a deposit of builder 0");
    await act(page, "Advance", { Number: "3" });
    expect(await builders("Exit")).toContain("The next payload contains an exit request of builder 0");
    await builders("Exit", { Builder: "7" });
    await page.getByRole("alert").getByText("There is no builder 7. The chain has 1 builder.").waitFor();
    await keepPicture(page, "control-gloas");
    expect(await accessibilityProblems(page)).toEqual([]);
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
