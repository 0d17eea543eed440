/**
 * Measures the time to execute a full block of each heavy opcode and precompile.
 *
 *     npm run bench -- worst-block [part of a name]
 */
const { benchWorstBlocks } = await import("./worst-block/run.ts");
await benchWorstBlocks(process.argv[2] ?? "");

export {};
