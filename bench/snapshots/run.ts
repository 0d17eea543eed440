import { Caller } from "../../test/support/api/caller.ts";
import { withDevChain } from "../support/dev-chain.ts";
import { describeMachine } from "../support/machine.ts";
import { median } from "../support/statistics.ts";

const VALIDATORS = 64;
const RUNS = 5;

interface SnapshotsBench {
  /** Chain lengths at the snapshot, in slots. */
  lengths: readonly number[];
  /** Slots between snapshot and revert, besides 0 and 20. */
  since: number;
}

/** Measures snapshots and reverts on chains of several lengths. */
export async function benchSnapshots({ lengths, since }: SnapshotsBench): Promise<void> {
  console.log(`${describeMachine()}; ${VALIDATORS} validators, fulu; milliseconds, median (longest)\n`);
  console.log("| slots of chain | slots since the snapshot | dev_snapshot | dev_revert |\n|---:|---:|---:|---:|");
  await withDevChain(
    { validators: VALIDATORS, forks: [{ fork: "fulu", epoch: 0 }], epochs: 0 },
    async ({ devChain: { api, clock, control } }) => {
      const caller = new Caller(api);
      const advanceTo = (slot: number) => control.time.advance({ slots: slot - clock.currentSlot });
      for (const length of lengths) {
        await advanceTo(length);
        for (const slots of [0, 20, since]) {
          const runs = slots === since ? 1 : RUNS;
          const took = { snapshot: [] as number[], revert: [] as number[] };
          for (let run = 0; run < runs; run++) {
            const id = await timed(took.snapshot, () => caller.call("dev_snapshot"));
            await advanceTo(clock.currentSlot + slots);
            await timed(took.revert, () => caller.call("dev_revert", [id]));
          }
          console.log(`| ${length} | ${slots} | ${figures(took.snapshot)} | ${figures(took.revert)} |`);
        }
      }
    },
  );
}

async function timed<T>(took: number[], work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  took.push(performance.now() - began);
  return result;
}

const figures = (took: readonly number[]) => `${median(took).toFixed(1)} (${Math.max(...took).toFixed(1)})`;
