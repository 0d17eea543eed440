/**
 * What floods cost a node: another process does its worst for some seconds each, under a new name whenever it is sent
 * away, while the node follows the chain of an honest one. Memory is measured after a collection before and after, and
 * in between as it is.
 *
 *     npm run bench -- adversary [seconds a flood]
 *
 * The exit code is 1 when the node did not follow.
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchAdversary } = await import("./adversary/run.ts");
process.exitCode = (await benchAdversary(Number(process.argv[2] ?? 20))) ? 0 : 1;
