// Type check, lint and the fast tier of tests; only tests when the options name some: npm test -- [PART OF A FILE
// NAME...].
import { conclude, runFastTier } from "./test-runner.js";

const options = process.argv.slice(2);
const full = options.find((option) => option.endsWith(".full.ts"));
if (full === undefined) {
  conclude([await runFastTier(options)]);
} else {
  process.stderr.write(`fanal: ${full} belongs to the second tier: npm run test:full -- ${full}\n`);
  process.exitCode = 1;
}
