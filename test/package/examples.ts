import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { linkPackages, NODE } from "./installed-package.ts";

const DIRECTORY = fileURLToPath(new URL("../../examples", import.meta.url));

/** File names of all examples. */
export const EXAMPLES = globSync("*.test.*", { cwd: DIRECTORY });

/** Runs examples in a project. They share one process, so that the package is loaded once. */
export function runExamples(project: string, names: readonly string[]): void {
  const imports = names.map((name) => `import "${placeExample(project, name)}";\n`);
  writeFileSync(join(project, "examples.test.mjs"), imports.join(""));
  const { status, stdout, stderr } = spawnSync(NODE, ["--test", "examples.test.mjs"], {
    cwd: project,
    encoding: "utf8",
  });
  expect(status, stdout + stderr).toBe(0);
  expect(Number(/ tests (\d+)/.exec(stdout)?.[1]), stdout).toBeGreaterThanOrEqual(names.length);
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
