/**
 * How fast a node syncs a chain from another: ours from ours, ours from Lodestar, Lodestar from Lodestar, Lodestar from
 * ours. Lodestar is installed first when it is not there, apart from the dependencies.
 *
 *     npm run bench -- peer-sync [epochs] [rounds] [fork]
 */
import { benchPeerSync } from "./peer-sync/run.ts";

const [epochs = "300", rounds = "3", fork = "altair"] = process.argv.slice(2);
await benchPeerSync({ epochs: Number(epochs), rounds: Number(rounds), fork });
