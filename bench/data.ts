/**
 * Measures blobs and columns on every KZG backend that loads: operations, memory, whole blocks, and blocking of the
 * main thread.
 *
 *     npm run bench -- data [rounds]
 *
 * The exit code is 1 if the main thread is blocked for 30 ms or longer.
 */
import { benchData } from "./data/run.ts";

const isFree = await benchData({ rounds: Number(process.argv[2] ?? 5) });
process.exitCode = isFree ? 0 : 1;
