// Type check, lint and the fast tier of tests; only tests when the options name some: npm test -- [PART OF A FILE
// NAME...].
import { conclude, runFastTier } from "./test-runner.js";

conclude([await runFastTier(process.argv.slice(2))]);
