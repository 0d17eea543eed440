import { join } from "node:path";
import { anvilProgram } from "../../test/execution/anvil.ts";
import { installPackage, NODE } from "../../test/package/installed-package.ts";
import { median } from "../support/statistics.ts";
import { megabytes, printHeader, printRow, printSetting, seconds } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { takeTurns } from "../support/turns.ts";
import { FILES, initCode, type Recipe, writeTests } from "./project.ts";
import { runTree, type TreeUsage } from "./tree-usage.ts";

interface Row {
  title: string;
  recipe: Recipe;
  options?: readonly string[];
}

const ROWS: readonly Row[] = [
  { title: "a chain per file", recipe: "own" },
  { title: "a chain per file, `--no-isolate`", recipe: "own", options: ["--no-isolate"] },
  { title: "one attached chain, a snapshot per test", recipe: "attached" },
  { title: "one attached chain, `--no-isolate`", recipe: "attached", options: ["--no-isolate"] },
  { title: "an Anvil per file", recipe: "anvil" },
  { title: "an Anvil per file, `--no-isolate`", recipe: "anvil", options: ["--no-isolate"] },
];

/** Prints time, CPU time and memory of the whole process tree for each recipe. */
export async function benchVitest(rounds: number): Promise<void> {
  await withTempDirectory(async (directory) => {
    const { project } = await installPackage(directory);
    writeTests(project);
    const anvil = anvilProgram();
    const rows = ROWS.filter(({ recipe }) => recipe !== "anvil" || anvil !== undefined);
    const env = { ...process.env, ANVIL: anvil, INIT_CODE: initCode() };
    const vitest = join(project, "node_modules", "vitest", "vitest.mjs");
    const run = ({ recipe, options = [] }: Row) =>
      runTree(NODE, [vitest, "run", "--config", `${recipe}.config.mjs`, ...options], { cwd: project, env });
    const measured = await takeTurns(
      rounds,
      rows.map((row) => () => run(row)),
    );
    printSetting(`vitest with ${FILES} files of three tests, ${rounds} rounds, medians`);
    printHeader("vitest", "time", "CPU", "peak memory");
    for (const [index, { title }] of rows.entries()) {
      const of = (key: keyof TreeUsage) => median(measured[index]!.map((usage) => usage[key]));
      printRow(title, seconds(of("wallMs")), seconds(of("cpuMs")), megabytes(of("peakBytes")));
    }
  });
}
