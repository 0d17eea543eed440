import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { inOneProcess, sharedOptions } from "../../vitest.config.ts";

/** The second tier, run by npm run test:full: tests that are slow and rarely fail. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    ...sharedOptions,
    ...inOneProcess,
    env: { ...sharedOptions.env, FANAL_TEST_TIER: "full" },
    include: ["test/**/*.full.ts", "src/**/*.full.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
