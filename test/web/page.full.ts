import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { keepPicture, visit, withBrowser } from "../support/browser/page-visit.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";

describe("the page", () => {
  withBrowser();

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
    await page.getByRole("heading", { name: /^Block of slot \d+$/ }).waitFor();
    expect(complaints).toEqual([]);
    await program.stop();
    await page
      .getByRole("status")
      .getByText(/does not respond/)
      .waitFor();
  });

  it("calls a gateway with the client key in its address, and asks for one otherwise", async () => {
    const { page, program } = await visit(["--rest", "--rest-port", "0"]);
    const [, upstream] = await program.untilLine(/REST is served at (http:\S+)/);
    const file = join(tempDirectory(), "gateway.yaml");
    const key = "key-of-the-explorer";
    const clients = [{ name: "explorer", "key-sha256": hash("sha256", key) }];
    writeFileSync(file, JSON.stringify({ upstreams: [{ url: upstream }], clients }));
    const gateway = await Program.served(["gateway", "--config-file", file, "--rest-port", "0"]);
    await page.goto(`${gateway.url}/${key}`);
    await page.getByRole("heading", { name: "Last epochs" }).waitFor();
    expect(await page.locator(".notice").count()).toBe(0);
    await page.goto(`${gateway.url}/${key}#/methods/getChainHead`);
    await page.locator(".snippet").getByText(`curl -s ${gateway.url}/${key} `).waitFor();
    await page.goto(gateway.url);
    await page.getByLabel(/gateway's client key/).fill(key);
    await page.getByRole("button", { name: "Use the key" }).click();
    await page.getByRole("heading", { name: "Last epochs" }).waitFor();
  });

  it("asks for a required token, and works without events then", async () => {
    const token = join(tempDirectory(), "token");
    const { page, complaints, go } = await visit(["--rpc-token-file", token]);
    await go("");
    await page.getByLabel(/This server requires a key/).fill(readFileSync(token, "utf8").trim());
    // The browser reports the earlier rejections.
    complaints.length = 0;
    await page.getByRole("button", { name: "Use the key" }).click();
    await page
      .getByRole("link", { name: /^Slot \d+, on the chain/ })
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });
});
