import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadEdr } from "../../test/evm/edr-chain.ts";
import { anvilProgram } from "../../test/execution/anvil.ts";
import { installPackage } from "../../test/package/installed-package.ts";
import { compileToken } from "../evm/token.ts";
import { Child } from "../support/child.ts";
import { median } from "../support/statistics.ts";
import { milliseconds, printHeader, printRow, seconds } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { takeTurns } from "../support/turns.ts";
import type { ContractTest, ContractTestTimes } from "./contract-test-process.ts";

const ROUNDS = 5;

/**
 * Prints the time of a contract test on each chain, that of Fanal's package without and with compiled code of an
 * earlier run. Every run has a new process.
 */
export function benchContractTests(): Promise<void> {
  return withTempDirectory(async (directory) => {
    const others = await othersWithBinary();
    const { root } = await installPackage(directory);
    const library = pathToFileURL(join(root, "dist", "library", "index.js")).href;
    const initCode = `0x${Buffer.from(compileToken().initCode).toString("hex")}` as const;
    const run = async (chain: ContractTest["chain"]) => {
      const { child } = await Child.start("contract-test-process", import.meta.url);
      const times = await child.ask<ContractTestTimes>({ chain, initCode, library } satisfies ContractTest);
      await child.end();
      return times;
    };
    const firstRun = () => {
      rmSync(join(root, "node_modules"), { recursive: true, force: true });
      return run("Fanal");
    };
    const measured = await takeTurns(ROUNDS, [
      firstRun,
      () => run("Fanal"),
      ...others.map((chain) => () => run(chain)),
    ]);
    printHeader("contract test", "Fanal, first run", "Fanal, second run", ...others);
    const row = (title: string, of: keyof ContractTestTimes, format = seconds) =>
      printRow(
        title,
        ...measured.map((each) => {
          const values = each.map((times) => times[of]).filter((value) => value !== undefined);
          return values.length > 0 ? format(median(values)) : "–";
        }),
      );
    row("import to last assertion", "green");
    row("import to chain stopped", "stopped");
    row("CPU of the test's process", "cpu");
    row("start of a further chain, with EVM", "further", milliseconds);
    row("CPU of that", "furtherCpu", milliseconds);
  });
}

async function othersWithBinary(): Promise<ContractTest["chain"][]> {
  const edr = await loadEdr();
  return [...(anvilProgram() ? (["Anvil"] as const) : []), ...(edr ? (["EDR"] as const) : [])];
}
