import { PTC_SIZE } from "@lodestar/params";
import { median } from "../support/statistics.ts";
import { milliseconds, printHeader, printRow, printSetting } from "../support/table.ts";
import { takeTurns } from "../support/turns.ts";
import { type SlotFigures, VotingChain } from "./voting-chain.ts";

/** Prints the medians of a slot, and how they compare. */
export async function benchHeadSelection(validators: number, epochs: number): Promise<void> {
  printSetting(`${validators} validators, mainnet preset, payload committees of ${PTC_SIZE}, ${epochs} epochs`);
  const forks = [false, true].map((isGloas) => new VotingChain(validators, { isGloas }));
  const rounds = await takeTurns(
    epochs,
    forks.map((chain) => async () => chain.runEpoch()),
  );
  const [fulu, gloas] = rounds.map((epochsOf) => epochsOf.flat());
  const figures: [what: string, figure: (slot: SlotFigures) => number][] = [
    ["recording the votes of a slot", ({ recordMs }) => recordMs],
    ["selecting the head with them", ({ selectMs }) => selectMs],
    ["confirming blocks", ({ confirmMs }) => confirmMs],
    ["confirming blocks with other balances", ({ confirmAnewMs }) => confirmAnewMs],
    ["selecting the head with new balances", ({ recountMs }) => recountMs],
  ];
  printHeader("what", "fulu", "gloas", "gloas/fulu");
  for (const [what, figure] of figures) {
    const [before, since] = [median(fulu!.map(figure)), median(gloas!.map(figure))];
    printRow(what, milliseconds(before), milliseconds(since), (since / before).toFixed(2));
  }
  // The first block of an epoch is confirmed only if its target will be justified.
  const [before, since] = [fulu!, gloas!].map((slots) =>
    median(slots.filter(({ slotOfEpoch }) => slotOfEpoch === 1).map(({ confirmMs }) => confirmMs)),
  ) as [number, number];
  const what = "confirming the first block of an epoch";
  printRow(what, milliseconds(before), milliseconds(since), (since / before).toFixed(2));
}
