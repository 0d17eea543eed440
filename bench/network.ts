/**
 * Several nodes in one network, each a process of its own, on loopback.
 *
 *     npm run bench -- network [--agreed EPOCHS] [--history EPOCHS] [--fork NAME] [--nodes COUNT] [part...]
 *
 * The parts are agreement, sync, interruption, checkpoint, discovery, crowd and idle; by default all of them. By
 * default three nodes agree for 10 epochs, a late one syncs 500, once in phase0 and once in fulu, and the crowd has 20
 * nodes. The exit code is 1 when nodes did not agree or follow, did not find each other, or lost a block.
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchNetwork } = await import("./network/run.ts");
process.exitCode = (await benchNetwork(process.argv.slice(2))) ? 0 : 1;
