import { relative } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const TESTS = ["src/**/*.test.ts", "test/**/*.test.ts"];
/** Those that replace a module for themselves. */
const ISOLATED = ["src/**/*.isolated.test.ts"];

/** What runs whole chains and programs takes longest, and comes first: else a core would wait at the end for another to be done with it. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => relative(import.meta.dirname, moduleId).startsWith("test");
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    // The preset is a process-wide fact that must be set before any consensus library is loaded.
    env: { LODESTAR_PRESET: "minimal" },
    globalSetup: ["test/shared-directory.ts", "test/shared-kzg.ts"],
    setupFiles: ["test/setup.ts"],
    sequence: { sequencer: LongestFirst },
    pool: "forks",
    // One more than the cores it should run on: some tests wait for real time or for a program to start.
    maxWorkers: 3,
    // Of the processor time a tenth less goes into garbage: more of it dies young, and no thread of its own chases it while cores are busy.
    execArgv: ["--min-semi-space-size=64", "--max-semi-space-size=128", "--single-threaded-gc"],
    // Some tests keep real time, which a machine that is busy with something else may not leave them: those get a second try there.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/**/*.test-support.ts"],
      reporter: ["text-summary", "html"],
    },
    projects: [
      // Loading the libraries of the chain and of the network anew for every file would take longer than most tests.
      {
        extends: true,
        test: { name: "all", include: TESTS, exclude: [...configDefaults.exclude, ...ISOLATED], isolate: false },
      },
      { extends: true, test: { name: "isolated", include: ISOLATED } },
    ],
  },
});
