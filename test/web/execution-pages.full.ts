import { describe, expect, it, vi } from "vitest";
import { accessibilityProblems } from "../support/browser/axe.ts";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";

vi.setConfig({ testTimeout: 120_000 });

const RECIPIENT = `0x${"ab".repeat(20)}`;

describe("the pages of the execution layer", () => {
  withBrowser();

  it("show blocks, transactions and accounts", async () => {
    const { page, program, complaints, go } = await visit(["--evm", "--eth-rpc-port", "0"]);
    const [sender] = await program.call<string[]>("eth_accounts");
    const hash = await program.call<string>("eth_sendTransaction", [
      { from: sender, to: RECIPIENT, value: "0xde0b6b3a7640000" },
    ]);
    await program.call("dev_advance", [1]);
    await go("");
    await page.getByRole("link", { name: "Execution", exact: true }).click();
    const transactions = page.getByRole("region", { name: "Transactions" }).locator("tbody tr");
    await transactions.first().waitFor();
    expect(await transactions.first().textContent()).toMatch(/0xabab.*abab1–/);
    const blocks = page.getByRole("region", { name: "Execution blocks" }).locator("tbody tr");
    expect(await blocks.count()).toBe(20);
    await page.getByRole("region", { name: "Accounts" }).getByRole("link").first().waitFor();
    await keepPicture(page, "execution");
    expect(await accessibilityProblems(page)).toEqual([]);

    await transactions.first().getByRole("link").first().click();
    await page.waitForURL(`**/transaction/${hash}`);
    await page.getByText("succeeded").waitFor();
    await page.getByText("The transaction has no logs.").waitFor();
    await keepPicture(page, "transaction");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.locator(`dd a[href="#/account/${RECIPIENT}"]`).click();
    await page.getByText("1 ETH", { exact: true }).first().waitFor();
    const ofAccount = page.getByRole("region", { name: "Transactions of the account" }).locator("tbody tr");
    await ofAccount.first().waitFor();
    expect(await ofAccount.count()).toBe(1);

    await ofAccount.getByRole("link", { name: /^\d+$/ }).click();
    await page.getByRole("heading", { name: /^Execution block \d+$/ }).waitFor();
    await page.getByRole("link", { name: /^← block/ }).click();
    await page.getByText("The block has no transactions.").waitFor();
    await keepPicture(page, "execution-block");
    expect(await accessibilityProblems(page)).toEqual([]);
    await go("execution");
    await page.getByRole("link", { name: "← older" }).click();
    await page.getByRole("link", { name: "latest" }).waitFor();
    await go("execution-block/999999");
    await page.getByRole("alert").getByText("There is no execution block 999999.").waitFor();
    await go(`transaction/0x${"00".repeat(32)}`);
    await page.getByRole("alert").getByText("There is no transaction").waitFor();
    expect(complaints).toEqual([]);
  });

  it("are not linked on a chain without the EVM", async () => {
    const { page, complaints, go } = await visit([]);
    await go("");
    await page.getByRole("link", { name: "Control", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "Execution", exact: true }).count()).toBe(0);
    await go("execution");
    await page.getByText("This node does not execute payloads itself.").waitFor();
    expect(complaints).toEqual([]);
  });
});
