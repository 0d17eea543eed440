/**
 * Measures dev_advance, automined transactions and dev_skip. The unit of comparison is a BLS signature, and the
 * baseline of dev_advance are the same blocks through the library alone.
 *
 *     npm run bench -- control [slots]
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchControl } = await import("./control/run.ts");
await benchControl(Number(process.argv[2] ?? 2000));
