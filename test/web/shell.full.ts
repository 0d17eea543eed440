import { describe, expect, it, vi } from "vitest";
import { visit, withBrowser } from "../support/browser/page-visit.ts";

vi.setConfig({ testTimeout: 120_000 });

describe("the page", () => {
  withBrowser();

  it("paints before any response of the node, without values", async () => {
    const { page, complaints, go } = await visit([]);
    // Accepts the connection and never responds.
    await page.routeWebSocket("**", () => {});
    for (const address of ["", "epoch", "validator/1", "control"]) {
      await go(address);
      await page.reload();
      await page.locator(".skeleton").waitFor();
      const paints = await page.evaluate<number>('performance.getEntriesByName("first-contentful-paint").length');
      expect(paints, address).toBe(1);
      expect(await page.getByRole("main").textContent(), address).toBe("Loading …");
    }
    expect(complaints).toEqual([]);
  });

  it("is searched by keyboard", async () => {
    const { page, program, complaints, go } = await visit([]);
    await go("");
    await page.getByRole("heading", { name: "Chain", exact: true }).waitFor();
    await page.keyboard.press("/");
    const search = page.getByRole("combobox");
    const options = page.getByRole("option");
    await search.pressSequentially("3");
    expect(await options.allInnerTexts()).toEqual(["Slot 3", "Epoch 3", "Validator 3"]);
    const selected = page.getByRole("option", { selected: true });
    await search.press("ArrowDown");
    expect(await selected.textContent()).toBe("Epoch 3");
    await search.press("ArrowUp");
    await search.press("ArrowUp");
    expect(await selected.textContent()).toBe("Validator 3");
    await search.press("Escape");
    expect([await options.count(), await search.inputValue()]).toEqual([0, ""]);

    await search.pressSequentially("3");
    await page.getByRole("heading", { name: "Chain", exact: true }).click();
    expect(await options.count()).toBe(0);
    await search.focus();
    await search.press("ArrowDown");
    await search.press("ArrowDown");
    await search.press("Enter");
    await page.getByRole("heading", { name: "Epoch 3" }).waitFor();
    await vi.waitUntil(async () => (await page.title()) === "Epoch 3 · Fanal");

    const [first] = await program.call<{ pubkey: string }[]>("post_v1_beacon_states_stateId_validator_identities", [
      "head",
      ["7"],
    ]);
    await search.fill(first!.pubkey.slice(0, 12));
    await page.getByRole("option", { name: /^Validator 7,/ }).waitFor();
    await search.press("Enter");
    await page.getByRole("heading", { name: "Validator 7" }).waitFor();
    const marked = page.getByRole("navigation", { name: "Pages" }).locator("[aria-current]");
    expect(await marked.allTextContents()).toEqual(["Validators"]);
    expect(complaints).toEqual([]);
  });

  it("has a skip link, and announces the head", async () => {
    const { page, program, complaints, go } = await visit([]);
    await go("pools");
    await page.getByRole("heading", { name: "Pools" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate<string>("document.activeElement.id")).toBe("main");
    expect(page.url()).toMatch(/#\/pools$/);
    const { head_slot: slot } = await program.call<{ head_slot: string }>("getChainHead");
    await page.locator("[aria-live]", { hasText: `Head: slot ${slot}` }).waitFor({ state: "attached" });
    expect(complaints).toEqual([]);
  });

  it("offers to reload if a part of it is gone", async () => {
    const { page, go } = await visit([]);
    await page.route(/chunks\/pools-/, (route) => route.abort());
    await go("pools");
    await page.getByRole("alert").getByText("This page was not loaded").waitFor();
    await page.unroute(/chunks\/pools-/);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { name: "Pools" }).waitFor();
  });
});
