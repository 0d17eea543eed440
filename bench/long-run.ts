/**
 * Measures the maximum speed of a dev chain, and its memory over thousands of epochs.
 *
 *     npm run bench -- long-run [epochs]
 *
 * Runs with `--expose-gc`, which excludes uncollected garbage, and with `--max-semi-space-size`, since V8 otherwise
 * grows its young generation for the first thousand epochs.
 */
process.env.LODESTAR_PRESET = "minimal";
const { runLongChain } = await import("./long-run/run.ts");
await runLongChain(Number(process.argv[2] ?? 2000));
