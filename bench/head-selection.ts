/**
 * Measures fork choice in memory while all validators vote once per epoch: recording the votes of a slot, selecting the
 * head, selecting it after the justified balances changed, and the fast confirmation rule. Compares fulu and gloas in turns.
 *
 *     npm run bench -- head-selection [validators] [epochs]
 */
process.env.LODESTAR_PRESET = "mainnet";
const { benchHeadSelection } = await import("./head-selection/run.ts");
await benchHeadSelection(Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 4));
