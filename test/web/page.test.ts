import { describe, expect, it, vi } from "vitest";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";

vi.setConfig({ testTimeout: 120_000 });

const HOSTILE_GRAFFITI = "<img src=x onerror=alert(1)>";

it("is not served if disabled", async () => {
  const program = await ProgramHere.served(["dev", "--validators", "8", "--no-web", "--data-dir", tempDirectory()]);
  expect((await fetch(program.url)).status).toBe(405);
  expect(program.output).not.toContain("Explorer");
});

describe("the page", () => {
  withBrowser();

  it("shows every page of a chain, and manual changes", async () => {
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

    // A new block appears without a reload, and nothing else changes.
    const bandTop = async () => (await page.locator("svg.band").boundingBox())!.y;
    const before = await bandTop();
    await call("dev_advance");
    await page.getByRole("link", { name: new RegExp(`^Slot ${Number(slot) + 1}, on the chain`) }).waitFor();
    expect(await bandTop()).toBe(before);

    await headBlock.click();
    await page.getByText(root!).first().waitFor();
    await page.getByText(HOSTILE_GRAFFITI, { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Execution payload" }).waitFor();
    await keepPicture(page, "block");

    const search = page.getByRole("combobox").first();
    await search.fill("3");
    await page.getByRole("option", { name: "Validator 3" }).click();
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
      ["peers", "Peers", "The node has no peers."],
      ["fork-choice", "Fork choice", "since the finalized checkpoint"],
      ["nowhere", "Page not found", "No page at /nowhere."],
    ] as const) {
      await go(address);
      await page.getByRole("heading", { name: heading }).waitFor();
      await page.getByText(text).first().waitFor();
      await keepPicture(page, address.replace("/", "-"));
    }
    for (const [address, problem] of [
      ["block/%", /block_id/],
      ["epoch/-1", "Epochs are whole numbers"],
      ["methods/nonsense", "The node has no method nonsense"],
    ] as const) {
      await go(address);
      await page.getByRole("alert").getByText(problem).first().waitFor();
    }
    await go("block/99999");
    await page.getByRole("alert").first().waitFor();
    expect(complaints).toEqual([]);
  });
});
