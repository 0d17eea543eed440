/**
 * Measures the cost of floods by a peer. A node follows the chain of an honest peer while another process floods it and
 * reconnects under a new peer id whenever it is disconnected. Heap before and after a flood is measured after garbage
 * collection, the peak without.
 *
 *     npm run bench -- adversary [seconds per flood]
 *
 * The exit code is 1 if the node falls behind.
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchAdversary } = await import("./adversary/run.ts");
process.exitCode = (await benchAdversary(Number(process.argv[2] ?? 20))) ? 0 : 1;
