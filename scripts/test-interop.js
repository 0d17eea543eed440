// Runs the tests with a beacon node and a validator client of others, Lodestar's.
import { runWithLodestar } from "./lodestar.js";

const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/interop/vitest.config.ts"];
runWithLodestar([...vitest, ...process.argv.slice(2)]);
