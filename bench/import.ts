/**
 * Compares the import pipeline with the library: each block of the same chain goes through `BeaconChain.importBlock` on
 * a fresh database and through state transition and batch verification alone, in turn. Then measures how fast a history
 * is imported, and how fast a new node syncs it from a peer.
 *
 *     npm run bench -- import [epochs] [rounds] [epochs of history]
 *
 * The exit code is 1 if the pipeline's own part is 30 % of the total or more. Rounds with synced writes are reported
 * too, but do not count, since they depend on the disk.
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchImport } = await import("./import/run.ts");
const isWithinBudget = await benchImport({
  epochs: Number(process.argv[2] ?? 40),
  rounds: Number(process.argv[3] ?? 5),
  historyEpochs: Number(process.argv[4] ?? 250),
});
process.exitCode = isWithinBudget ? 0 : 1;
