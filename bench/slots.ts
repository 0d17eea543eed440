/**
 * What slots cost a node at which many validators vote: a chain of the mainnet preset goes through them in one process,
 * each with a block that carries the votes of all committees of the slot before.
 *
 *     npm run bench -- slots [validators] [slots]
 */
process.env.LODESTAR_PRESET = "mainnet";
const { benchSlots } = await import("./slots/run.ts");
await benchSlots({ validators: Number(process.argv[2] ?? 100_000), slots: Number(process.argv[3] ?? 70) });
