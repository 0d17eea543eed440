/**
 * Measures slots with many attesting validators. A chain with the mainnet preset advances in one process, and each
 * block includes the attestations of all committees of the previous slot.
 *
 *     npm run bench -- slots [validators] [slots]
 */
process.env.LODESTAR_PRESET = "mainnet";
const { benchSlots } = await import("./slots/run.ts");
await benchSlots({ validators: Number(process.argv[2] ?? 100_000), slots: Number(process.argv[3] ?? 70) });
