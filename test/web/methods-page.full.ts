import { describe, expect, it, vi } from "vitest";
import { accessibilityProblems } from "../support/browser/axe.ts";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";

vi.setConfig({ testTimeout: 120_000 });

describe("the methods page", () => {
  withBrowser();

  it("groups methods by subject, and finds them by words and aliases", async () => {
    const { page, complaints, go } = await visit([]);
    await go("methods/get_v1_beacon_genesis");
    const list = page.getByRole("navigation", { name: "Methods" });
    const groups = list.locator("details");
    await groups.first().waitFor();
    expect(await groups.count()).toBeGreaterThan(8);
    expect(await list.locator("details[open] summary").allTextContents()).toEqual([
      expect.stringMatching(/^Beacon chain \d+$/),
    ]);
    expect(await list.getByRole("link", { name: "getBeaconHead" }).isVisible()).toBe(false);
    // A method far down the list is in view.
    await go("methods/get_v1_beacon_states_stateId_pending_deposits");
    const isInView =
      '(() => { const a = document.querySelector(".groups [aria-current]"), ' +
      'list = a.closest(".groups").getBoundingClientRect(), place = a.getBoundingClientRect(); ' +
      "return place.top >= list.top && place.bottom <= list.bottom })()";
    await vi.waitUntil(async () => page.evaluate<boolean>(isInView));

    const search = list.getByRole("searchbox");
    await search.fill("validator balance");
    await list.getByRole("link", { name: "get_v1_beacon_states_stateId_validator_balances" }).waitFor();
    expect(await list.getByText("getBeaconHead").count()).toBe(0);
    await search.fill("no such method");
    await list.getByText("No method matches.").waitFor();
    await search.fill("get_v1_beacon_states_stateId_root");
    await search.press("Enter");
    await page.waitForURL("**/methods/get_v1_beacon_states_stateId_root");
    await page.getByText("Alias of get_v1_beacon_states_root").waitFor();
    expect(complaints).toEqual([]);
  });

  it("prefills required parameters for this chain, and offers values to choose from", async () => {
    const { page, program, complaints, go } = await visit([]);
    const { head_block_root: root } = await program.call<{ head_block_root: string }>("getChainHead");
    await go("methods/get_v1_beacon_light_client_bootstrap_blockRoot");
    await vi.waitUntil(async () => (await page.getByLabel("block_root").inputValue()) === root);
    // The recorded example has a public key of another chain.
    await go("methods/get_v1_beacon_states_stateId_validators_validatorId");
    await vi.waitUntil(async () => (await page.getByLabel("validator_id").inputValue()) === "0");

    await go("methods/get_v1_beacon_states_stateId_validators");
    await page.getByRole("checkbox", { name: "exited_slashed" }).check();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText(/^2 bytes in/).waitFor();

    await go("methods/dev_slash");
    expect(await page.getByRole("combobox", { name: "kind" }).locator("option").allTextContents()).toEqual([
      "not set",
      "proposer",
      "attester",
    ]);
    expect(await page.getByLabel("kind").inputValue()).toBe("");
    await page.getByRole("button", { name: "Fill in the example" }).click();
    expect(await page.getByLabel("kind").inputValue()).toBe("attester");
    expect(complaints).toEqual([]);
  });

  it("shows responses with their size and links, and the call as code", async () => {
    const { page, program, complaints, go } = await visit([]);
    const { head_block_root: root } = await program.call<{ head_block_root: string }>("getChainHead");
    await go("methods/get_v1_beacon_headers_blockId");
    const call = page.getByRole("button", { name: "Call", exact: true });
    await page.getByLabel("block_id").fill("head");
    await call.click();
    const response = page.getByRole("region", { name: "Response" });
    await response.waitFor();
    await page.getByText(/^\d+ bytes in [\d.]+ ms$/).waitFor();
    const rootLink = page.getByRole("link", { name: `"${root}"` });
    expect(await rootLink.getAttribute("href")).toBe(`#/block/${root}`);
    await keepPicture(page, "methods");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Fold all", exact: true }).click();
    await response.getByText("header: {2}").waitFor();
    expect(await response.getByText("proposer_index").count()).toBe(0);
    await page.getByRole("button", { name: "Unfold all" }).click();
    await response.getByText("proposer_index").waitFor();

    const copied = async (form: string) => {
      await page.getByRole("radio", { name: form, exact: true }).check();
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      await page.getByRole("button", { name: "Copy", exact: true }).waitFor();
      return page.evaluate<string>("navigator.clipboard.readText()");
    };
    expect(await copied("curl")).toContain('"params":["head"]');
    expect(await copied("fanal call")).toBe(`fanal call get_v1_beacon_headers_blockId head --url ${program.url}`);
    expect(await copied("TypeScript")).toContain('client.get_v1_beacon_headers_blockId({ block_id: "head" })');

    await page.getByLabel("block_id").fill("nothing");
    await call.click();
    await page
      .getByRole("alert")
      .getByText(/block_id/)
      .waitFor();
    await page.getByText(/^code -32602 · /).waitFor();
    await go("methods/get_v1_beacon_states_root");
    await call.click();
    const { root: stateRoot } = await program.call<{ root: string }>("get_v1_beacon_states_root", ["head"]);
    expect(await page.getByRole("link", { name: stateRoot }).getAttribute("href")).toBe(`#/state/${stateRoot}`);
    expect(complaints).toEqual([]);
  });

  it("receives events", async () => {
    const { page, program, complaints, go } = await visit([]);
    await go("methods/subscribe");
    await page.getByRole("button", { name: "Listen" }).click();
    await page.getByText("Listening", { exact: true }).waitFor();
    await program.call("dev_advance");
    await page.getByText("1 head").waitFor();
    expect(complaints).toEqual([]);
  });
});
