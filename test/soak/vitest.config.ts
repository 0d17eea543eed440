import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Apart from the other tests: these take as long as the variables SOAK_… tell them to, by default up to an hour each. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/soak/**/*.soak.ts"],
    env: { LODESTAR_PRESET: "minimal" },
    setupFiles: ["test/setup.ts"],
    pool: "forks",
    // What they report is shown at once.
    reporters: ["verbose"],
    disableConsoleIntercept: true,
    // One after the other, since they measure.
    maxWorkers: 1,
    testTimeout: 4 * 3_600_000,
    hookTimeout: 600_000,
  },
});
