// Runs the long versions of tests: npm run test:soak -- [PART OF A FILE NAME...]. Their lengths are in the variables
// SOAK_….
import { runVitest } from "./test-runner.js";

const succeeded = await runVitest(["--config", "test/soak/vitest.config.ts", ...process.argv.slice(2)]);
process.exitCode = succeeded ? 0 : 1;
