/**
 * What it takes to control a dev chain.
 *
 *     npm run bench -- control [slots of chain before a snapshot, as a list with commas] [slots since it]
 */
import { benchSnapshots } from "./control/snapshots.ts";

const lengths = (process.argv[2] ?? "100,10000").split(",").map(Number);
await benchSnapshots({ lengths, since: Number(process.argv[3] ?? 2000) });
