import { Child } from "../support/child.ts";
import { mebibytes, printHeader, printRow, printSetting, seconds } from "../support/table.ts";
import { bytesIn, withTempDirectory } from "../support/temp-directory.ts";
import type { ChainFigures, ChainOrder, ChainRequest, Lookups, Opened } from "./chain-process.ts";

const VALIDATORS = 64;

/** 60 %: below the two thirds that justification needs. */
const ATTESTING = Math.floor(VALIDATORS * 0.6);
const MAX_EPOCHS_BACK = 500;
/** Finality must return within this many epochs once all validators attest. */
const EPOCHS_TO_FINALITY = 5;

/** Prints a row at a tenth, half and all of the epochs. */
export async function benchNonFinality(epochs: number, fork: string): Promise<void> {
  printSetting(`${VALIDATORS} validators, ${ATTESTING} of them attesting, ${fork}, ${epochs} epochs`);
  await withTempDirectory(async (directory) => {
    const lastEpoch = epochs + EPOCHS_TO_FINALITY;
    const withAttesters = (activeValidators: number) => ({
      directory,
      fork,
      validators: VALIDATORS,
      activeValidators,
      epochs: lastEpoch,
    });
    printHeader(
      "epoch",
      "import of a block",
      "RSS",
      "unfinalized blocks",
      "stored states",
      "database",
      "restart",
      "restart, CPU",
      "lookup: epochs back",
      "lookup, mean",
      "lookup, CPU",
      "lookup, longest",
    );
    for (const mark of [epochs / 10, epochs / 2, epochs].map(Math.round)) {
      const figures = await withChain(withAttesters(ATTESTING), (chain) => advanceTo(chain, mark));
      if (figures.finalizedEpoch > 0)
        throw new Error(`Epoch ${figures.finalizedEpoch} was finalized with too few attestations.`);
      const back = Math.min(MAX_EPOCHS_BACK, Math.round(mark / 2));
      const { restart, lookups } = await withChain(withAttesters(ATTESTING), async (chain, opened) => {
        return { restart: opened, lookups: await ask<Lookups>(chain, { lookUp: { epochs: back } }) };
      });
      const times = [lookups.meanMilliseconds, lookups.cpuMilliseconds, lookups.longestMilliseconds];
      printRow(
        mark,
        ...cellsOf(figures),
        ...[restart.milliseconds, restart.cpuMilliseconds].map(seconds),
        back,
        ...times.map(seconds),
      );
    }
    const figures = await withChain(withAttesters(VALIDATORS), (chain) => advanceTo(chain, lastEpoch));
    printRow(`${lastEpoch}, all attest since ${epochs}`, ...cellsOf(figures), "", "", "", "", "", "");
    if (figures.finalizedEpoch <= epochs) throw new Error("No epoch was finalized although all validators attested.");
  });
}

/** Call this after the process has exited: reads the size of the closed database. */
function cellsOf(figures: ChainFigures): (string | number)[] {
  return [
    `${figures.importMilliseconds.toFixed(1)} ms`,
    mebibytes(figures.residentBytes),
    figures.unfinalizedBlocks,
    `${figures.storedStates} (${(figures.storedStateBytes / 2 ** 20).toFixed(2)} MiB)`,
    `${(bytesIn(figures.databasePath) / 2 ** 20).toFixed(1)} MiB`,
  ];
}

/** Runs the work with the chain in a new process, and waits for its exit. */
async function withChain<T>(order: ChainOrder, work: (chain: Child, opened: Opened) => Promise<T>): Promise<T> {
  const { child } = await Child.start("chain-process", import.meta.url);
  try {
    return await work(child, await ask<Opened>(child, { open: order }));
  } finally {
    await child.end();
  }
}

const advanceTo = (chain: Child, epoch: number) => ask<ChainFigures>(chain, { advanceTo: { epoch } });

const ask = <Report>(chain: Child, request: ChainRequest) => chain.ask<Report>(request);
