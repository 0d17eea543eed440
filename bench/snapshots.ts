/**
 * Measures dev_snapshot and dev_revert.
 *
 *     npm run bench -- snapshots [comma-separated chain lengths in slots] [slots since the snapshot]
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchSnapshots } = await import("./snapshots/run.ts");
const lengths = (process.argv[2] ?? "100,10000").split(",").map(Number);
await benchSnapshots({ lengths, since: Number(process.argv[3] ?? 2000) });
