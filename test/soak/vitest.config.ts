import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Separate from the other tests: the variables SOAK_… set the duration, by default up to an hour each. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/soak/**/*.soak.ts"],
    env: { LODESTAR_PRESET: "minimal" },
    setupFiles: ["test/setup.ts"],
    pool: "forks",
    // Output is printed immediately.
    reporters: ["verbose"],
    disableConsoleIntercept: true,
    // Sequential, because they measure.
    maxWorkers: 1,
    testTimeout: 4 * 3_600_000,
    hookTimeout: 600_000,
  },
});
