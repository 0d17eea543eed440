/**
 * What a long time without finality costs: three fifths of the validators vote until a last epoch, then all of them do.
 * Each mark on the way is reached by one process and opened again by another.
 *
 *     npm run bench -- non-finality [epochs]
 *
 * It runs with the flags of long-run, for the same reasons.
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchNonFinality } = await import("./non-finality/run.ts");
await benchNonFinality(Number(process.argv[2] ?? 1000));
