/**
 * Measures proofs about one validator on a large state, compared with the library's bare walk down the same tree.
 *
 *     npm run bench -- proofs [validators] [proofs]
 *
 * The exit code is 1 if the median of a proof is 20 ms or longer.
 */
import { benchProofs } from "./proofs/run.ts";

const isFast = await benchProofs({
  validators: Number(process.argv[2] ?? 1_000_000),
  proofs: Number(process.argv[3] ?? 2000),
});
process.exitCode = isFast ? 0 : 1;
