/**
 * Measures dev_advance and dev_skip. The same blocks through the library alone are the baseline of dev_advance.
 *
 *     npm run bench -- control [slots]
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchControl } = await import("./control/run.ts");
await benchControl(Number(process.argv[2] ?? 2000));
