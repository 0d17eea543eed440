/**
 * How long a dev chain takes to remember a moment and to go back to it.
 *
 *     npm run bench -- snapshots [slots of chain before a snapshot, as a list with commas] [slots since it]
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchSnapshots } = await import("./snapshots/run.ts");
const lengths = (process.argv[2] ?? "100,10000").split(",").map(Number);
await benchSnapshots({ lengths, since: Number(process.argv[3] ?? 2000) });
