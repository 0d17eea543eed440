// Runs the tests with programs of others: Lodestar's beacon node and validator client, and @ethereumjs/client.
import { ethereumjsClientEnvironment } from "./ethereumjs-client.js";
import { runWithLodestar } from "./lodestar.js";

const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/interop/vitest.config.ts"];
runWithLodestar([...vitest, ...process.argv.slice(2)], ethereumjsClientEnvironment());
