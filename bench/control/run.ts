import { describeMachine } from "../support/machine.ts";
import { advancingRows } from "./advancing.ts";
import { FORK, VALIDATORS } from "./benched-chain.ts";
import { libraryRows } from "./library.ts";
import { skippingRows } from "./skipping.ts";

/** Prints one table. */
export async function benchControl(slots: number): Promise<void> {
  console.log(`${describeMachine()}; ${VALIDATORS} validators, ${FORK}, minimal preset\n`);
  console.log("| what | |");
  console.log("| --- | ---: |");
  for (const measure of [advancingRows, libraryRows, skippingRows]) {
    for (const { what, figure } of await measure(slots)) console.log(`| ${what} | ${figure} |`);
  }
}
