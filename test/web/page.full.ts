import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

describe("the page", () => {
  withBrowser();

  it("controls a dev chain: shows a reorg, a slashing and a stall", async () => {
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
    await act("Revert to 0x1");
    expect(await program.call("getChainHead")).toMatchObject({ head_slot: slot });
    // The reverted blocks are gone.
    await go("");
    await page.getByRole("heading", { name: "Chain", exact: true }).waitFor();
    await vi.waitUntil(async () => (await page.getByRole("link", { name: /, orphaned/ }).count()) === 1);
    expect(complaints).toEqual([]);
  });

  it("fits a narrow screen, works by keyboard, and waits for an offline node", async () => {
    const { page, program, complaints, go } = await visit([], { width: 360, dark: true });
    for (const address of ["", "block/head", "validator/1", "state", "pools", "fork-choice", "methods", "control"]) {
      await go(address);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await vi.waitUntil(async () => (await page.getByText("Loading").count()) === 0, { timeout: 20_000 });
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
      .getByText(/does not respond/)
      .waitFor();
  });

  it("asks for a required token, and works without events then", async () => {
    const token = join(tempDirectory(), "token");
    const { page, complaints, go } = await visit(["--rpc-token-file", token]);
    await go("");
    await page.getByLabel(/This node wants a token/).fill(readFileSync(token, "utf8").trim());
    // The browser reports the earlier rejections.
    complaints.length = 0;
    await page.getByRole("button", { name: "Use it" }).click();
    await page
      .getByRole("link", { name: /^Slot \d+, on the chain/ })
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });
});
