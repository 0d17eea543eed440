/**
 * Compares the JSON writers of long responses with the codecs of @lodestar/api and `JSON.stringify`, which encode all
 * other responses.
 *
 *     npm run bench -- writers [validators] [rounds]
 */
import { benchWriters } from "./writers/run.ts";

await benchWriters({ validators: Number(process.argv[2] ?? 200_000), rounds: Number(process.argv[3] ?? 5) });
