/**
 * What blobs and columns cost: verification, cells, proofs and reconstruction in the thread, beside the synchronous calls of the
 * library, whole blocks with them, and for how long they hold up the main thread.
 *
 *     npm run bench -- data [rounds]
 *
 * The exit code is 1 when the main thread is held up for 30 ms or longer.
 */
import { benchData } from "./data/run.ts";

const isFree = await benchData({ rounds: Number(process.argv[2] ?? 9) });
process.exitCode = isFree ? 0 : 1;
