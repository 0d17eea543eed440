import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { linkPackages, NODE } from "./installed-package.ts";

const DIRECTORY = fileURLToPath(new URL("../../examples", import.meta.url));

const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));

/** File names of all examples. */
export const EXAMPLES = globSync("*.test.*", { cwd: DIRECTORY });

/** Examples for vitest. The others are for `node --test`. */
const FOR_VITEST = /^vitest/;

/** Runs examples in a project. Those for Node share one process, so that the package is loaded once. */
export function runExamples(project: string, names: readonly string[]): void {
  const paths = (isForVitest: boolean) =>
    names.filter((name) => FOR_VITEST.test(name) === isForVitest).map((name) => placeExample(project, name));
  const imports = paths(false).map((path) => `import "${path}";\n`);
  writeFileSync(join(project, "examples.test.mjs"), imports.join(""));
  const output = run(project, ["--test", "examples.test.mjs"]);
  expect(Number(/ tests (\d+)/.exec(output)?.[1]), output).toBeGreaterThanOrEqual(imports.length);
  for (const path of paths(true)) {
    const vitestOutput = run(project, [VITEST, "run", path]);
    expect(vitestOutput).toMatch(/Tests .*\d+ passed/);
  }
}

/** Runs Node in a project. Returns its output, once it has succeeded. */
function run(project: string, args: readonly string[]): string {
  const env = { ...process.env, NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(NODE, args, { cwd: project, encoding: "utf8", env });
  expect(status, stdout + stderr).toBe(0);
  return stdout;
}

/** Copies an example into the project, with the packages that its first lines say to install. */
export function placeExample(project: string, name: string): string {
  const place = join(project, "examples", name);
  const path = `./examples/${name}/${name}`;
  if (existsSync(place)) return path;
  cpSync(join(DIRECTORY, "support"), join(place, "support"), { recursive: true });
  cpSync(join(DIRECTORY, name), join(place, name));
  const [, packages] =
    /^\/\/ npm install --save-dev fanal\b *(.*)$/m.exec(readFileSync(join(place, name), "utf8")) ?? [];
  linkPackages(place, packages?.match(/\S+/g) ?? []);
  return path;
}
