// Runs a program of this repository, such as a benchmark, that starts Lodestar: node scripts/with-lodestar.js PROGRAM
// [ARGUMENTS]
import { runWithLodestar } from "./lodestar.js";

runWithLodestar(process.argv.slice(2));
