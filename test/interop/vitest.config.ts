import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Apart from the other tests: these need a program of others that takes minutes to install, and real time. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/interop/**/*.interop.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Up to ten epochs in real time, with room for a machine that is busy with other things.
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
