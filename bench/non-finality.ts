/**
 * Measures a long period without finality: 60 % of the validators attest until the last epoch, then all of them. Each
 * checkpoint is reached by one process and reopened by another.
 *
 *     npm run bench -- non-finality [epochs] [fork]
 *
 * Runs with `--expose-gc`, which excludes uncollected garbage, and with `--max-semi-space-size`, since V8 otherwise
 * grows its young generation for a long time.
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchNonFinality } = await import("./non-finality/run.ts");
await benchNonFinality(Number(process.argv[2] ?? 1000), process.argv[3] ?? "phase0");
