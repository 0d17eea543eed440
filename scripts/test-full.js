// All of npm test, then the tests that are slow and rarely fail: npm run test:full -- [PART OF A FILE NAME...].
import { conclude, runFastTier, runTests } from "./test-runner.js";

// The tests that the options name may all be in one tier.
const options = ["--passWithNoTests", ...process.argv.slice(2)];
const fast = await runFastTier(options);
const full = await runTests(["--config", "test/full/vitest.config.ts", ...options]);
conclude([fast, full]);
