/**
 * How fast a dev chain goes when nothing holds it back, and whether its memory stays flat over thousands of epochs.
 *
 *     npx node --expose-gc --max-semi-space-size=4 bench/long-run.ts [epochs]
 *
 * `--expose-gc` keeps garbage that was not collected yet out of the figures. Without `--max-semi-space-size` V8 lets its
 * young generation grow for the first thousand epochs, and what the node itself holds cannot be told from that.
 */
process.env.LODESTAR_PRESET = "minimal";
const { runLongChain } = await import("./long-run/run.ts");
await runLongChain(Number(process.argv[2] ?? 2000));
