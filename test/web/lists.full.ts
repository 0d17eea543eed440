import { describe, expect, it, vi } from "vitest";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Counts the slots before the current one without a canonical block. */
async function emptySlots(program: { call<T>(method: string, params?: unknown): Promise<T> }): Promise<number> {
  const { slot } = await program.call<{ slot: string }>("getChainTime");
  const slots = Array.from({ length: Number(slot) }, (_, index) => index);
  const headers = await Promise.all(
    slots.map((each) => program.call<{ canonical: boolean }[]>("get_v1_beacon_headers", [each])),
  );
  return headers.filter((found) => !found.some(({ canonical }) => canonical)).length;
}

describe("the lists of the chain", () => {
  withBrowser();

  it("counts the blocks and votes of every epoch", async () => {
    const { page, program, complaints, go } = await visit([]);
    const { slot } = await program.call<{ slot: string }>("getChainTime");
    const next = (Math.floor(Number(slot) / 8) + 1) * 8;
    await program.call("dev_advance", [next + 5 - Number(slot)]);
    await program.call("dev_skip", [2]);
    await program.call("dev_advance", [20 * 8]);
    await go("epochs");
    const rows = page.getByRole("region", { name: "Epochs" }).locator("tbody tr[aria-busy=false]");
    await vi.waitUntil(async () => (await rows.count()) === 20);
    await keepPicture(page, "epochs");
    await page.getByRole("link", { name: "← older" }).click();
    const row = rows.filter({ has: page.getByRole("rowheader", { name: String(next / 8), exact: true }) });
    await row.waitFor();
    const cells = await row.locator("th, td").allTextContents();
    expect(cells.slice(0, 2)).toEqual([String(next / 8), "final"]);
    expect(cells.slice(3)).toEqual([`${next} to ${next + 7}`, "6", "2", "0"]);
    const lastSlot = (next / 8 + 2) * 8 - 1;
    const { previous_epoch: votes } = await program.call<{ previous_epoch: number }>("getParticipation", [lastSlot]);
    await row.getByText(`${(votes * 100).toFixed(1)} %`).waitFor();
    await page.getByRole("link", { name: "latest" }).click();
    await vi.waitUntil(async () => (await rows.count()) === 20);
    await go("epochs/x");
    await page.getByRole("alert").getByText("Epochs are whole numbers").waitFor();
    expect(complaints).toEqual([]);
  });

  it("folds the raw block until it is opened", async () => {
    const { page, complaints, go } = await visit([]);
    await go("block/head");
    await page.getByRole("heading", { name: "Raw block" }).waitFor();
    const raw = page.locator(".json");
    expect(await raw.locator("details[open]").count()).toBe(0);
    await raw.locator("summary").first().click();
    await raw.getByText("message").waitFor();
    expect(complaints).toEqual([]);
  });

  it("compares the branches of a fork by their votes", async () => {
    const { page, program, complaints, go } = await visit([]);
    await go("fork-choice");
    await page.getByText("All blocks are on one chain.").waitFor();
    const { old_branch, new_branch } = await program.call<Record<string, { head: { root: string } }>>("dev_fork", {
      slots: 3,
      votes: "split",
    });
    await page.getByText("not chosen").waitFor();
    const branches = page.getByRole("region", { name: /^Branches after slot/ }).locator("tbody tr");
    expect(await branches.count()).toBe(2);
    expect(await branches.first().textContent()).toMatch(/\d\.\d %.*chosen/);
    const heads = [old_branch!.head.root, new_branch!.head.root];
    for (const root of heads) await page.locator(`svg.band a[href="#/block/${root}"]`).waitFor();
    // Finalized slots have their blocks, too.
    expect(await page.locator("svg.band .missed").count()).toBe(await emptySlots(program));
    await keepPicture(page, "fork-choice");
    expect(complaints).toEqual([]);
  });

  it("counts the blobs of recent blocks", async () => {
    const { page, program, complaints, go } = await visit(["--dev-blobs", "2"]);
    const { head_slot: slot } = await program.call<{ head_slot: string }>("getChainHead");
    await program.call("dev_skip", [1]);
    await program.call("dev_advance", [1]);
    await go("blobs");
    const rows = page.getByRole("region", { name: "Blocks with blobs" }).locator("tbody tr");
    await rows.first().waitFor();
    const cells = await rows.first().locator("td").allTextContents();
    expect(cells).toEqual([String(Number(slot) + 2), "2", "262 kB", expect.stringContaining("0x")]);
    await page.getByText(/^\d+ blocks? without blobs\.$/).waitFor();
    await keepPicture(page, "blobs");
    await page.getByRole("link", { name: "← older" }).click();
    await page.getByRole("link", { name: "latest" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows pooled operations and transactions", async () => {
    const { page, program, complaints, go } = await visit(["--evm", "--eth-rpc-port", "0"]);
    await program.call("dev_slash", [3, "attester"]);
    await program.call("evm_setAutomine", [false]);
    const [from] = await program.call<string[]>("eth_accounts");
    await program.call("eth_sendTransaction", [{ from, to: from, value: "0x1" }]);
    await go("pools");
    await page
      .locator("dt", { hasText: "Attester slashings" })
      .locator("+ dd")
      .getByText("1", { exact: true })
      .waitFor();
    const slashing = page.getByRole("region", { name: "Attester slashings" }).locator("tbody tr");
    await slashing.getByRole("link", { name: "3", exact: true }).waitFor();
    await page
      .locator("dt", { hasText: /^Transactions$/ })
      .locator("+ dd")
      .getByText("1", { exact: true })
      .waitFor();
    await page.getByRole("region", { name: "Pooled transactions" }).getByText("pending").waitFor();
    await keepPicture(page, "pools");
    expect(complaints).toEqual([]);
  });
});
