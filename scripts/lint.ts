/**
 * Lints the tree in the working directory: Biome's rules, which folder imports which, promises that nobody waits for,
 * omitted keys that do not exist, and names that say nothing. With --types the types are checked, too, for which the
 * sources would otherwise be read a second time. Needs Node 24, as the program itself does.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { API } from "typescript/unstable/sync";
import { floatingPromises } from "./lint/floating-promises.ts";
import { forbiddenImports } from "./lint/imports.ts";
import { omittedKeys } from "./lint/omitted-keys.ts";
import { typeErrors } from "./lint/type-errors.ts";
import { vagueNames } from "./lint/vocabulary.ts";

const BIOME = fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome"));

const PROJECTS = ["tsconfig.json", "src/web/tsconfig.json"].filter((path) => existsSync(path));
if (PROJECTS.length === 0) throw new Error("There is no tsconfig.json in the working directory.");
const checksTypes = process.argv.includes("--types");
// TypeScript collects garbage for a fifth of its time unless it may use some more memory.
process.env.GOGC ??= "400";

/** Prints what is wrong, and says how much that is. */
function lintSources(): number {
  const api = new API({ cwd: process.cwd() });
  try {
    let count = 0;
    const complain = (text: string) => {
      process.stderr.write(`${text}\n`);
      count++;
    };
    const projects = api.updateSnapshot({ openProjects: PROJECTS.map((path) => resolve(path)) }).getProjects();
    for (const project of projects) {
      for (const name of project.rootFiles) {
        const file = project.program.getSourceFile(name);
        if (file === undefined) continue;
        const path = relative(process.cwd(), name).replaceAll(sep, "/");
        const { checker } = project;
        const problems = [
          ...forbiddenImports(file, path),
          ...floatingPromises(file, checker),
          ...omittedKeys(file, checker),
          ...vagueNames(file, path),
        ];
        for (const { node, message } of problems) {
          const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
          complain(`${path}:${line + 1}: ${message}`);
        }
      }
    }
    // Last, since it takes all cores: what comes before takes one, and Biome another.
    for (const project of checksTypes ? projects : []) typeErrors(project.program).forEach(complain);
    return count;
  } finally {
    api.close();
  }
}

const colors = process.stdout.isTTY ? ["--colors=force"] : [];
// Biome gets pipes of its own: TypeScript makes the standard streams non-blocking, on which Biome fails if they are
// full.
const biome = spawn(process.execPath, [BIOME, "check", ...colors, "."], { stdio: ["ignore", "pipe", "pipe"] });
biome.stdout.pipe(process.stdout);
biome.stderr.pipe(process.stderr);
const biomeEnded = once(biome, "close");
const problems = lintSources();
const [status] = await biomeEnded;
process.exitCode = status === 0 && problems === 0 ? 0 : 1;
