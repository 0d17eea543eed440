/**
 * How fast a dev chain goes when nothing holds it back, and whether its memory stays flat over thousands of epochs.
 *
 *     npm run bench -- long-run [epochs]
 *
 * It runs with `--expose-gc`, which keeps garbage that was not collected yet out of the figures, and
 * `--max-semi-space-size`, without which V8 lets its young generation grow for the first thousand epochs; what the node
 * itself holds could not be told from that.
 */
process.env.LODESTAR_PRESET = "minimal";
const { runLongChain } = await import("./long-run/run.ts");
await runLongChain(Number(process.argv[2] ?? 2000));
