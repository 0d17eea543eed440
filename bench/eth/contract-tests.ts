import { compileToken } from "../evm/token.ts";
import { Child } from "../support/child.ts";
import { median } from "../support/statistics.ts";
import { printHeader, printRow } from "../support/table.ts";
import { takeTurns } from "../support/turns.ts";
import type { ContractTest } from "./contract-test-process.ts";

const ROUNDS = 5;

/** Prints the time of a contract test on each chain. Every run has a new process. */
export async function benchContractTests(chains: readonly ContractTest["chain"][]): Promise<void> {
  const initCode = `0x${Buffer.from(compileToken().initCode).toString("hex")}` as const;
  const measured = await takeTurns(
    ROUNDS,
    chains.map((chain) => async () => {
      const { child } = await Child.start("contract-test-process", import.meta.url);
      const times = await child.ask<{ green: number; stopped: number }>({ chain, initCode } satisfies ContractTest);
      await child.end();
      return times;
    }),
  );
  printHeader("contract test", ...chains);
  const row = (title: string, of: "green" | "stopped") =>
    printRow(title, ...measured.map((each) => `${(median(each.map((times) => times[of])) / 1000).toFixed(2)} s`));
  row("import to last assertion", "green");
  row("import to chain stopped", "stopped");
}
