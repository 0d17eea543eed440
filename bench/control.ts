/**
 * What it costs to move a dev chain: slots that are advanced, beside what the library alone takes for the same blocks,
 * and slots that are skipped.
 *
 *     npm run bench -- control [slots]
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchControl } = await import("./control/run.ts");
await benchControl(Number(process.argv[2] ?? 2000));
