/**
 * Measures networks of several nodes on loopback, each in its own process.
 *
 *     npm run bench -- network [--agreed EPOCHS] [--history EPOCHS] [--fork NAME] [--nodes COUNT] [part...]
 *
 * The parts are agreement, sync, interruption, checkpoint, discovery, crowd and idle. The default is all of them, with
 * 10 epochs of agreement between three nodes, a sync of 500 epochs in phase0 and in fulu, and a crowd of 20 nodes. The
 * exit code is 1 if nodes disagree, fall behind, do not find each other, or lose a block.
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchNetwork } = await import("./network/run.ts");
process.exitCode = (await benchNetwork(process.argv.slice(2))) ? 0 : 1;
