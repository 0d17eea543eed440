/**
 * Lints the tree in the working directory: Biome's rules, which folder imports which, and promises that nobody waits for.
 * Needs Node 24, as the program itself does.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { API } from "typescript/unstable/sync";
import { floatingPromises } from "./lint/floating-promises.ts";
import { forbiddenImports } from "./lint/imports.ts";

const BIOME = fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome"));

const PROJECTS = ["tsconfig.json", "src/web/tsconfig.json"].filter((path) => existsSync(path));
if (PROJECTS.length === 0) throw new Error("There is no tsconfig.json in the working directory.");

/** Prints what is wrong, and says how much that is. */
function lintSources(): number {
  const api = new API({ cwd: process.cwd() });
  try {
    let count = 0;
    for (const project of api.updateSnapshot({ openProjects: PROJECTS.map((path) => resolve(path)) }).getProjects()) {
      for (const name of project.rootFiles) {
        const file = project.program.getSourceFile(name);
        if (file === undefined) continue;
        const path = relative(process.cwd(), name).replaceAll(sep, "/");
        for (const { node, message } of [...forbiddenImports(file, path), ...floatingPromises(file, project.checker)]) {
          const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
          process.stderr.write(`${path}:${line + 1}: ${message}\n`);
          count++;
        }
      }
    }
    return count;
  } finally {
    api.close();
  }
}

const biome = spawnSync(process.execPath, [BIOME, "check", "."], { stdio: "inherit" });
if (biome.error) throw biome.error;
const problems = lintSources();
process.exitCode = biome.status === 0 && problems === 0 ? 0 : 1;
