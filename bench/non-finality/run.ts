import { mebibytes, seconds, table } from "../network/table.ts";
import { Child } from "../support/child.ts";
import { describeMachine } from "../support/machine.ts";
import { bytesIn, withTempDirectory } from "../support/temp-directory.ts";
import type { LookUps, Opened, Order, Question, Standing } from "./chain-process.ts";

const VALIDATORS = 64;

/** Three fifths: too few to justify anything. */
const VOTING = Math.floor(VALIDATORS * 0.6);
const MOST_EPOCHS_BACK = 500;
/** Within which finality has to come when all vote. */
const EPOCHS_TO_FINALITY = 5;

/** The marks are a tenth, a half and all of the epochs. */
export async function benchNonFinality(epochs: number): Promise<void> {
  console.log(`${describeMachine()}; ${VALIDATORS} validators, ${VOTING} of them voting, phase0, ${epochs} epochs\n`);
  await withTempDirectory(async (directory) => {
    const lastEpoch = epochs + EPOCHS_TO_FINALITY;
    const withVoters = (activeValidators: number) => ({
      directory,
      validators: VALIDATORS,
      activeValidators,
      epochs: lastEpoch,
    });
    const row = table(
      "epoch",
      "import of a block",
      "RSS",
      "blocks not final",
      "stored states",
      "database",
      "restart",
      "its CPU",
      "look-up: epochs back",
      "mean",
      "its CPU",
      "worst",
    );
    for (const mark of [epochs / 10, epochs / 2, epochs].map(Math.round)) {
      const standing = await withChain(withVoters(VOTING), (chain) => advanceTo(chain, mark));
      if (standing.finalizedEpoch > 0)
        throw new Error(`Epoch ${standing.finalizedEpoch} was finalized by too few votes.`);
      const back = Math.min(MOST_EPOCHS_BACK, Math.round(mark / 2));
      const { restart, lookUps } = await withChain(withVoters(VOTING), async (chain, opened) => {
        return { restart: opened, lookUps: await ask<LookUps>(chain, { lookBack: { epochs: back } }) };
      });
      const times = [lookUps.meanMilliseconds, lookUps.cpuMilliseconds, lookUps.worstMilliseconds];
      row(
        mark,
        ...cellsOf(standing),
        ...[restart.milliseconds, restart.cpuMilliseconds].map(seconds),
        back,
        ...times.map(seconds),
      );
    }
    const standing = await withChain(withVoters(VALIDATORS), (chain) => advanceTo(chain, lastEpoch));
    row(`${lastEpoch}, all voted since ${epochs}`, ...cellsOf(standing), "", "", "", "", "", "");
    if (standing.finalizedEpoch <= epochs) throw new Error("All voted, and still nothing was finalized.");
  });
}

/** The size of the database is that at rest, so this is to be asked when the process has ended. */
function cellsOf(standing: Standing): (string | number)[] {
  return [
    `${standing.importMilliseconds.toFixed(1)} ms`,
    mebibytes(standing.residentBytes),
    standing.unfinalizedBlocks,
    `${standing.storedStates} (${(standing.storedStateBytes / 2 ** 20).toFixed(2)} MiB)`,
    `${(bytesIn(standing.databasePath) / 2 ** 20).toFixed(1)} MiB`,
  ];
}

/** Opens the chain in a process of its own, which has ended when the result is there. */
async function withChain<T>(order: Order, work: (chain: Child, opened: Opened) => Promise<T>): Promise<T> {
  const { child } = await Child.start("chain-process", import.meta.url);
  try {
    return await work(child, await ask<Opened>(child, { open: order }));
  } finally {
    await child.end();
  }
}

const advanceTo = (chain: Child, epoch: number) => ask<Standing>(chain, { advanceTo: { epoch } });

/** So that only what the process understands is asked. */
const ask = <Report>(chain: Child, question: Question) => chain.ask<Report>(question);
