import { relative } from "node:path";
import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const TESTS = ["src/**/*.test.ts", "test/**/*.test.ts"];
/** Tests that replace a module or a global for themselves. */
const ISOLATED = ["src/**/*.isolated.test.ts"];

/** Runs the tests of whole chains and programs first: they take longest, and a core would idle at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => relative(import.meta.dirname, moduleId).startsWith("test");
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

type TestOptions = NonNullable<ViteUserConfig["test"]>;

/** For both tiers. */
export const sharedOptions: TestOptions = {
  // The preset is process-wide and must be set before any consensus library is loaded.
  env: { LODESTAR_PRESET: "minimal" },
  globalSetup: ["test/shared-directory.ts", "test/shared-kzg.ts"],
  setupFiles: ["test/setup.ts"],
  sequence: { sequencer: LongestFirst },
  pool: "forks",
  // One more than the cores of a small machine: some tests wait for real time or for a program to start.
  maxWorkers: 3,
  // Saves a tenth of the processor time: more garbage dies young, and no extra threads collect it while cores are busy.
  execArgv: ["--min-semi-space-size=64", "--max-semi-space-size=128", "--single-threaded-gc"],
  // Safety nets, far beyond what anything takes on a machine that is not busy.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000, interval: 10 } },
};

/** For tests that run in one process one after the other. */
export const inOneProcess: TestOptions = {
  // Loading the libraries of chain and network for every file would take longer than most tests.
  isolate: false,
  // Node strips the types. Modules that Vite transforms take a tenth more processor time, for mocks that no test needs.
  experimental: { viteModuleRunner: false, nodeLoader: false },
};

export default defineConfig({
  test: {
    ...sharedOptions,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "html"],
    },
    projects: [
      {
        extends: true,
        test: { ...inOneProcess, name: "all", include: TESTS, exclude: [...configDefaults.exclude, ...ISOLATED] },
      },
      { extends: true, test: { name: "isolated", include: ISOLATED } },
    ],
  },
});
