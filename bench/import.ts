/**
 * What the import pipeline costs beside the library: the same real chain goes through `BeaconChain.importBlock` on a
 * fresh database and, block by block in turn, through state transition and batch verification alone.
 *
 *     npm run bench -- import [epochs] [rounds]
 *
 * The exit code is 1 when the pipeline's own cost is 30 % of the total or more. Rounds whose writes are synced to disk
 * are reported too, but do not decide that: they depend on the disk.
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchImport } = await import("./import/run.ts");
const isWithinBudget = await benchImport({
  epochs: Number(process.argv[2] ?? 40),
  rounds: Number(process.argv[3] ?? 5),
});
process.exitCode = isWithinBudget ? 0 : 1;
