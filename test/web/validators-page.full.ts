import { describe, expect, it, vi } from "vitest";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";

vi.setConfig({ testTimeout: 120_000 });

describe("the validators page", () => {
  withBrowser();

  it("lists, sorts, filters and finds validators", async () => {
    const { page, program, complaints, go } = await visit(["--validators", "400"]);
    await go("validators");
    const table = page.getByRole("region", { name: "Validators" }).getByRole("table");
    const rows = table.locator("tbody tr[aria-busy=false]");
    const firstColumn = () => rows.locator("td:first-child").allTextContents();
    await page.getByText("400 validators").waitFor();
    await rows.first().waitFor();
    expect(await table.getAttribute("aria-rowcount")).toBe("401");
    // Only the visible rows are rendered.
    expect(await rows.count()).toBeLessThan(40);
    expect((await firstColumn()).slice(0, 3)).toEqual(["0", "1", "2"]);
    await keepPicture(page, "validators");

    await page.getByRole("region", { name: "Validators" }).focus();
    await page.keyboard.press("End");
    await table.getByRole("link", { name: "399", exact: true }).waitFor();
    expect(await rows.last().getAttribute("aria-rowindex")).toBe("401");

    await table.getByRole("button", { name: "Index" }).click();
    await vi.waitUntil(async () => (await firstColumn())[0] === "399");
    expect(await table.getByRole("columnheader", { name: "Index" }).getAttribute("aria-sort")).toBe("descending");

    await program.call("dev_slash", [7]);
    await program.call("dev_advance", [1]);
    await page.getByLabel("Status").selectOption("active_slashed");
    await page.waitForURL("**/validators/active_slashed");
    await page.getByText("1 validator", { exact: true }).waitFor();
    await vi.waitUntil(async () => (await firstColumn()).join() === "7");
    // The slashed validator has the lowest balance.
    await page.getByLabel("Status").selectOption("all");
    await table.getByRole("button", { name: "Balance (ETH)" }).click();
    await vi.waitUntil(async () => (await firstColumn())[0] === "7");

    const { validator } = await program.call<{ validator: { pubkey: string } }>(
      "get_v1_beacon_states_stateId_validators_validatorId",
      ["head", "42"],
    );
    const search = page.getByLabel("Index or start of a public key");
    await search.fill(validator.pubkey.slice(0, 12));
    await vi.waitUntil(async () => (await firstColumn()).join() === "42");
    await search.press("Enter");
    await page.waitForURL("**/validator/42");
    await page.goBack();
    await search.fill("nonsense");
    await page.getByRole("alert").getByText("public keys start with 0x").waitFor();
    await go("validators/nonsense");
    await page.getByRole("alert").getByText("There is no status nonsense").waitFor();
    expect(complaints).toEqual([]);
  });
});
