/**
 * What an indexer sees that goes through the whole history of a chain: one request after the other over JSON-RPC, at
 * every slot the block, the state's root, the committees, the validators and the block's rewards, and the rewards of
 * attestations once an epoch. First from the oldest slot to the newest, then back.
 *
 *     npm run bench -- indexer [epochs] [chain-process.ts of another checkout]
 *
 * With another checkout its server is walked through as well, and the table compares the two.
 */
import { benchIndexer } from "./indexer/run.ts";

await benchIndexer(Number(process.argv[2] ?? 200), process.argv[3]);
