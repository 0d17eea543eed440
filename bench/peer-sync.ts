/**
 * Measures the sync speed between nodes: all combinations of Fanal and Lodestar. Installs Lodestar outside the
 * dependencies if it is missing.
 *
 *     npm run bench -- peer-sync [epochs] [rounds] [fork]
 */
import { benchPeerSync } from "./peer-sync/run.ts";

const [epochs = "300", rounds = "3", fork = "altair"] = process.argv.slice(2);
await benchPeerSync({ epochs: Number(epochs), rounds: Number(rounds), fork });
