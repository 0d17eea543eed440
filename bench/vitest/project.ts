import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { linkPackages } from "../../test/package/installed-package.ts";
import { compileToken } from "../evm/token.ts";

export const FILES = 8;

/** How the test files get their chains. */
export type Recipe = "own" | "attached" | "anvil";

/** Opens a chain before the tests of a file, and returns to its start after each test. */
const OPEN: Readonly<Record<Recipe, string>> = {
  own: `
    import { startDevChain } from "fanal";
    const chain = await startDevChain({ evm: true });
    const provider = chain.eth;
    afterAll(() => chain.stop());
  `,
  attached: `
    import { attachDevChain } from "fanal";
    import { inject } from "vitest";
    const chain = attachDevChain({ url: inject("url") });
    const provider = chain.eth;
    let snapshot;
    beforeEach(async () => { snapshot = await chain.snapshot(); });
    afterEach(() => snapshot.revert());
    afterAll(() => chain.stop());
  `,
  anvil: `
    import { spawn } from "node:child_process";
    import { createInterface } from "node:readline";
    const anvil = spawn(process.env.ANVIL, ["--host", "127.0.0.1", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    const url = await new Promise((resolve) => {
      createInterface({ input: anvil.stdout }).on("line", (line) => {
        const port = /^Listening on 127\\.0\\.0\\.1:(\\d+)/.exec(line)?.[1];
        if (port !== undefined) resolve("http://127.0.0.1:" + port);
      });
    });
    const provider = {
      request: async ({ method, params = [] }) => {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
        const headers = { "Content-Type": "application/json" };
        const { result, error } = await (await fetch(url, { method: "POST", headers, body })).json();
        if (error) throw new Error(error.message);
        return result;
      },
    };
    afterAll(() => { anvil.kill(); });
  `,
};

const testFile = (recipe: Recipe) => `
  import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
  import { createWalletClient, custom, parseAbi, publicActions } from "viem";
  import { foundry } from "viem/chains";
  ${OPEN[recipe]}
  const abi = parseAbi([
    "function mint(address to, uint256 value)",
    "function balanceOf(address) view returns (uint256)",
  ]);
  const transport = custom(provider);
  const [account] = await createWalletClient({ chain: foundry, transport }).getAddresses();
  const wallet = createWalletClient({ chain: foundry, transport, account }).extend(publicActions);
  const receiptOf = (hash) => wallet.waitForTransactionReceipt({ hash, pollingInterval: 5 });

  test.each([1n, 2n, 3n])("mints %s", async (value) => {
    const { contractAddress: address } = await receiptOf(await wallet.deployContract({ abi, bytecode: process.env.INIT_CODE }));
    await receiptOf(await wallet.writeContract({ abi, address, functionName: "mint", args: [account, value] }));
    expect(await wallet.readContract({ abi, address, functionName: "balanceOf", args: [account] })).toBe(value);
  });
`;

const GLOBAL_SETUP = `
  import { startDevChain } from "fanal";
  export default async function (project) {
    const chain = await startDevChain({ evm: true, rpc: 0 });
    project.provide("url", chain.url);
    return () => chain.stop();
  }
`;

/** Writes the test files of all recipes into a project. */
export function writeTests(project: string): void {
  linkPackages(project, ["viem"]);
  writeFileSync(join(project, "global-setup.mjs"), GLOBAL_SETUP);
  for (const recipe of Object.keys(OPEN) as Recipe[]) {
    mkdirSync(join(project, recipe));
    for (let file = 0; file < FILES; file++) {
      writeFileSync(join(project, recipe, `${file}.test.mjs`), testFile(recipe));
    }
    const test = {
      include: [`${recipe}/*.test.mjs`],
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // One chain for all files: a snapshot must not contain the transactions of another file.
      ...(recipe === "attached" && { globalSetup: "./global-setup.mjs", fileParallelism: false }),
    };
    writeFileSync(join(project, `${recipe}.config.mjs`), `export default ${JSON.stringify({ test })};\n`);
  }
}

/** Init code of the token that the tests deploy. */
export const initCode = (): string => `0x${Buffer.from(compileToken().initCode).toString("hex")}`;
