import { printHeader, printRow, printSetting } from "../support/table.ts";
import { advancingRows } from "./advancing.ts";
import { automineRows } from "./automining.ts";
import { FORK, VALIDATORS } from "./benched-chain.ts";
import { gloasRows } from "./gloas.ts";
import { libraryRows } from "./library.ts";
import { skippingRows } from "./skipping.ts";
import { snapshotRows } from "./snapshots.ts";

/** Prints one table. */
export async function benchControl(slots: number): Promise<void> {
  printSetting(`${VALIDATORS} validators, ${FORK}, minimal preset`);
  printHeader("what", "");
  for (const measure of [advancingRows, gloasRows, automineRows, libraryRows, skippingRows, snapshotRows]) {
    for (const { what, figure } of await measure(slots)) printRow(what, figure);
  }
}
