import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Separate from the other tests: these need a foreign program that takes minutes to install, and real time. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/interop/**/*.interop.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Up to ten epochs in real time, with headroom for a busy machine.
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
