import { expect, it, type TestContext } from "vitest";
import { fundedAccounts } from "../../src/evm/accounts.ts";
import { linkPackages } from "../package/installed-package.ts";
import { toolPath } from "../package/tools.ts";
import { compileVault, INSTALL_LIMIT_MS, SampleProject, startEthPort } from "./sample-project.ts";

const [OWNER, USER] = fundedAccounts();
const OTHER = "0x7777777777777777777777777777777777777777";
/** The first contract that the owner creates. */
const VAULT = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const KEY = ["--private-key", OWNER!.privateKey];

/** Returns functions that run the tools in the sample project, on a new chain. */
async function foundry(context: TestContext) {
  const programs = { cast: toolPath("cast", context), forge: toolPath("forge", context) };
  const url = await startEthPort();
  const project = new SampleProject("foundry", { ETH_RPC_URL: url, FOUNDRY_SOLC: "./solc.mjs", VAULT });
  linkPackages(project.directory, ["solc"]);
  return {
    url,
    cast: async (...args: string[]) => (await project.run(programs.cast, ...args)).trim(),
    /** Returns what cast prints when it fails. */
    castError: async (...args: string[]) => {
      const { code, output } = await project.attempt(programs.cast, ...args);
      expect(code, output).not.toBe(0);
      return output;
    },
    forge: (...args: string[]) => project.run(programs.forge, ...args),
  };
}

it("serves cast: transactions, receipts, logs, blocks, reverts and Anvil's methods", {
  timeout: INSTALL_LIMIT_MS,
}, async (context) => {
  const { cast, castError } = await foundry(context);
  expect(await cast("chain-id")).toBe("31337");
  expect(await cast("balance", OWNER!.address, "--ether")).toBe("10000.000000000000000000");

  const { bytecode } = compileVault();
  const created = JSON.parse(
    await cast("send", ...KEY, "--json", "--create", bytecode, "constructor(uint256)", "1000"),
  );
  expect(created).toMatchObject({ status: "0x1", contractAddress: VAULT.toLowerCase() });
  const sent = JSON.parse(await cast("send", ...KEY, "--json", "--value", "5000", VAULT, "deposit()"));
  expect(sent).toMatchObject({ status: "0x1", blockNumber: "0x2", logs: [{ logIndex: "0x0" }] });
  await cast("send", "--unlocked", "--from", USER!.address, "--value", "2000", VAULT, "deposit()");

  expect(await cast("call", VAULT, "balanceOf(address)(uint256)", OWNER!.address)).toMatch(/^5000\b/);
  expect(await cast("receipt", sent.transactionHash, "blockNumber")).toBe("2");
  expect(await cast("tx", sent.transactionHash, "value")).toBe("5000");
  const event = "Deposited(address indexed,uint256)";
  const logs = JSON.parse(await cast("logs", "--from-block", "0", "--address", VAULT, event, "--json"));
  expect(logs).toMatchObject([{ blockNumber: "0x2" }, { blockNumber: "0x3" }]);
  expect(JSON.parse(await cast("block", "latest", "--json"))).toMatchObject({ number: "0x3" });
  expect(await cast("nonce", OWNER!.address)).toBe("2");
  expect(await cast("code", VAULT)).toMatch(/^0x60/);
  expect(Number(await cast("estimate", VAULT, "deposit()", "--value", "1000"))).toBeGreaterThan(21_000);
  expect(await cast("storage", VAULT, "0")).toBe(`0x${"0".repeat(64)}`);
  expect(JSON.parse(await cast("proof", VAULT))).toMatchObject({ balance: "0x1b58", nonce: "0x1" });
  expect(await cast("run", sent.transactionHash)).toContain("Transaction successfully executed");

  const refused = await castError("call", "--value", "1", VAULT, "deposit()");
  expect(refused).toContain("error code 3: execution reverted: below minimum");
  expect(await castError("send", ...KEY, "--nonce", "0", OTHER)).toContain("nonce too low");

  await cast("rpc", "anvil_setBalance", OTHER, "0x64");
  expect(await cast("balance", OTHER)).toBe("100");
  await cast("rpc", "anvil_mine", "0x2");
  expect(await cast("block-number")).toBe("5");
});

it("serves forge: create, script --broadcast and tests on a fork", { timeout: INSTALL_LIMIT_MS }, async (context) => {
  const { url, cast, forge } = await foundry(context);
  const created = await forge(
    "create",
    "contracts/Vault.sol:Vault",
    ...KEY,
    "--broadcast",
    "--constructor-args",
    "1000",
  );
  expect(created).toContain(`Deployed to: ${VAULT}`);
  expect(await cast("call", VAULT, "minimum()(uint256)")).toMatch(/^1000\b/);

  const script = await forge("script", "script/Deploy.s.sol", ...KEY, "--rpc-url", url, "--broadcast");
  expect(script).toContain("ONCHAIN EXECUTION COMPLETE & SUCCESSFUL");
  const [, second] = /contract Vault (0x\w{40})/.exec(script)!;
  expect(await cast("balance", second!)).toBe("5000");

  expect(await forge("test", "--fork-url", url)).toContain("2 tests passed");
});
