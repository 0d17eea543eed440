/**
 * Measures an indexer that reads the whole history over JSON-RPC, one request at a time: per slot the block, state
 * root, committees, validators and block rewards, and attestation rewards once per epoch. Ascending, then descending.
 *
 *     npm run bench -- indexer [epochs] [chain-process.ts of another checkout]
 *
 * With another checkout, both servers are measured and compared.
 */
import { benchIndexer } from "./indexer/run.ts";

await benchIndexer(Number(process.argv[2] ?? 200), process.argv[3]);
