import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { DevFork } from "../../src/dev/forks.ts";
import { recordChain } from "../import/record-chain.ts";
import { describeMachine } from "../support/machine.ts";
import { measure } from "./measure.ts";
import { tableOf } from "./summary.ts";

const VALIDATORS = 64;
const FORKS: readonly DevFork[] = ["phase0", "fulu"];

/** Prints one table per fork. */
export async function benchSyncImport({ slots, segment }: { slots: number; segment: number }): Promise<void> {
  const epochs = Math.ceil(slots / SLOTS_PER_EPOCH);
  console.log(
    `${describeMachine()}; ${VALIDATORS} validators, ${epochs * SLOTS_PER_EPOCH} blocks, ${segment} per segment`,
  );
  for (const fork of FORKS) {
    const recorded = await recordChain(fork, VALIDATORS, epochs);
    console.log(`\n${fork}\n${tableOf(await measure(recorded, segment))}`);
  }
}
