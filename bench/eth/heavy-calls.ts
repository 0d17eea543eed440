import { median } from "../support/statistics.ts";
import { printHeader, printRow } from "../support/table.ts";
import { takeTurns } from "../support/turns.ts";
import type { TokenChain } from "./history.ts";

const ROUNDS = 15;
const GAS = 10_000_000;
const INTRINSIC_GAS = 21_000;
const BURNER = `0x${"b0".repeat(20)}`;
/** Multiplies, adds and mixes a number of 256 bits until less than 1,000 gas is left. */
const BURNER_CODE = `0x60015f5b600302810190600101906103e85a11600357`;

/** Prints the time of an `eth_call` that burns 10,000,000 gas, one call at a time, on each server. */
export async function benchHeavyCalls(chains: readonly TokenChain[]): Promise<void> {
  for (const { server } of chains) await server.call("hardhat_setCode", BURNER, BURNER_CODE);
  const measured = await takeTurns(
    ROUNDS,
    chains.map(({ server }) => {
      let calls = 0;
      return async () => {
        // No two calls are equal, so that no server repeats a response.
        const gas = toHex(GAS + INTRINSIC_GAS + calls++);
        const cpuBefore = await server.cpuMicroseconds();
        const began = performance.now();
        await server.call("eth_call", { to: BURNER, gas }, "latest");
        const elapsed = performance.now() - began;
        return { elapsed, cpu: ((await server.cpuMicroseconds()) - cpuBefore) / 1000 };
      };
    }),
  );
  printHeader("`eth_call` of 10,000,000 gas", ...chains.map(({ server }) => server.name));
  printRow("time", ...measured.map((each) => inMs(median(each.map(({ elapsed }) => elapsed)))));
  printRow("CPU time", ...measured.map((each) => inMs(median(each.map(({ cpu }) => cpu)))));
}

const toHex = (number: number): string => `0x${number.toString(16)}`;
const inMs = (milliseconds: number): string => `${milliseconds.toFixed(1)} ms`;
