import type { Page } from "playwright-core";
import { describe, expect, it, vi } from "vitest";
import { visit, withBrowser } from "../support/browser/page-visit.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Returns the cells of the rows of a table. */
async function cellsOf(page: Page, table: string): Promise<string[][]> {
  const rows = page.getByRole("region", { name: table, exact: true }).locator("tbody tr");
  await rows.first().waitFor();
  await vi.waitUntil(async () => (await page.locator("tr[aria-busy=true]").count()) === 0);
  return Promise.all((await rows.all()).map((row) => row.locator("th, td").allTextContents()));
}

/** Returns the values of fields by their names. */
async function fieldsOf(page: Page): Promise<Record<string, string>> {
  await page.locator("dl.fields").first().waitFor();
  const [names, values] = await Promise.all([
    page.locator("dl.fields > dt").allTextContents(),
    page.locator("dl.fields > dd").allTextContents(),
  ]);
  return Object.fromEntries(names.map((name, index) => [name, values[index]!]));
}

describe("the details", () => {
  withBrowser();

  it("count an orphaned slot once, in the same columns of both tables of epochs", async () => {
    const { page, program, complaints, go } = await visit([]);
    const { slot } = await program.call<{ slot: string }>("getChainTime");
    const next = (Math.floor(Number(slot) / 8) + 1) * 8;
    await program.call("dev_advance", [next + 3 - Number(slot)]);
    await program.call("dev_reorg", { depth: 1 });
    await program.call("dev_skip", [1]);
    await program.call("dev_advance", [12]);
    const counts = [String(next / 8), "6", "1", "1"];
    for (const address of ["", "epochs"]) {
      await go(address);
      const row = (await cellsOf(page, "Epochs")).find(([epoch]) => epoch === counts[0])!;
      expect([row[0], ...row.slice(-3)], address).toEqual(counts);
      const heads = await page.getByRole("region", { name: "Epochs" }).getByRole("columnheader").allTextContents();
      expect(heads.slice(-3), address).toEqual(["proposed", "missed", "orphaned"]);
    }
    expect(complaints).toEqual([]);
  });

  it("mark head, justified checkpoint and final blocks in fork choice, and explain weights", async () => {
    const { page, program, complaints, go } = await visit([]);
    const head = await program.call<Record<string, string>>("getChainHead");
    await go("fork-choice");
    await page.getByText(/gives its chain the\s+proposer boost/).waitFor();
    const rows = await cellsOf(page, "Blocks since the finalized checkpoint");
    const statusOf = (slot: string | undefined) => rows.find(([each]) => each === slot)?.at(-1);
    expect(statusOf(head.head_slot)).toBe("head");
    expect(statusOf(head.justified_slot)).toBe("justified checkpoint");
    expect(statusOf(head.finalized_slot)).toBe("final");
    expect(complaints).toEqual([]);
  });

  it("tell slot, block and fork of a state", async () => {
    const { page, program, complaints, go } = await visit([]);
    const head = await program.call<Record<string, string>>("getChainHead");
    await go("state/finalized");
    await page.getByRole("heading", { name: "Checkpoints in this state" }).waitFor();
    expect(await fieldsOf(page)).toMatchObject({
      Slot: head.finalized_slot,
      Epoch: String(Number(head.finalized_slot) / 8),
      Block: head.finalized_block_root,
      Fork: expect.stringMatching(/^fulu \(0x06/),
    });
    await program.call("dev_skip", [1]);
    const { slot } = await program.call<{ slot: string }>("getChainTime");
    await go(`state/${slot}`);
    await vi.waitUntil(async () => (await fieldsOf(page)).Slot === slot);
    expect((await fieldsOf(page)).Block).toBe("none in this slot");
    expect(complaints).toEqual([]);
  });

  it("list duties with epoch and status", async () => {
    const { page, program, complaints, go } = await visit([]);
    await program.call("dev_advance", [4]);
    const { slot } = await program.call<{ slot: string }>("getChainTime");
    const epoch = Math.floor(Number(slot) / 8);
    const header = await program.call<{ header: { message: { proposer_index: string } } }>(
      "get_v1_beacon_headers_blockId",
      [slot],
    );
    await go(`validator/${header.header.message.proposer_index}`);
    const duties = await cellsOf(page, "Duties");
    expect(duties).toContainEqual([String(epoch), slot, "propose a block", "done"]);
    const attestations = duties.filter(([, , duty]) => duty!.startsWith("attest"));
    expect(attestations.every(([, each]) => Number(each) >= Number(slot))).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("link beacon blocks and execution blocks to each other", async () => {
    const { page, complaints, go } = await visit(["--evm", "--eth-rpc-port", "0"]);
    await go("block/head");
    const { Slot: slot } = await fieldsOf(page);
    expect(await page.getByRole("link", { name: /^slot \d+ →$/ }).count()).toBe(0);
    await page.locator('dd a[href^="#/account/"]').waitFor();
    const withdrawals = page.getByRole("region", { name: "Withdrawals of the payload" });
    expect(await withdrawals.locator('a[href^="#/account/0x"]').count()).toBeGreaterThan(0);
    await page.locator('dd a[href^="#/execution-block/0x"]').click();
    await page.getByRole("heading", { name: /^Execution block \d+$/ }).waitFor();
    await page.locator("dt", { hasText: "Beacon slot" }).locator("+ dd a").click();
    await page.getByRole("heading", { name: `Block of slot ${slot}`, exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("show the payload of a block of gloas, or that it is withheld", async () => {
    const { page, program, complaints, go } = await visit(["--fork", "gloas"]);
    const transactions = page.locator("dt", { hasText: "Transactions" });
    await go("block/head");
    await transactions.waitFor();
    await program.call("dev_withholdPayloads", [1]);
    await program.call("dev_advance", [1]);
    const { head_slot: slot } = await program.call<{ head_slot: string }>("getChainHead");
    await go(`block/${slot}`);
    await page.getByText(/No execution payload is known/).waitFor();
    await program.call("dev_revealPayload", []);
    await program.call("dev_advance", [1]);
    await transactions.waitFor();
    // The browser reports the response to the read of the withheld payload.
    expect(complaints.filter((complaint) => !complaint.includes("404"))).toEqual([]);
  });
});
