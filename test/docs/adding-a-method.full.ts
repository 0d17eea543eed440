import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { API } from "typescript/unstable/sync";
import { expect, it } from "vitest";
import { typeErrors } from "../../scripts/lint/type-errors.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramProcess } from "../support/program/program-process.ts";

const ROOT = join(import.meta.dirname, "../..");
const COPIED = ["bench", "bin", "docs", "package.json", "scripts", "src", "test", "tsconfig.json", "vitest.config.ts"];

const PROJECT = "tsconfig.method.json";
/** No other file lists method names. */
const KNOW_METHODS = ["src/api", "src/client"];

/** The code that docs/adding-a-method.md instructs to add, by file. */
function readWalkThrough() {
  const document = readFileSync(join(ROOT, "docs/adding-a-method.md"), "utf8");
  const [definition, list, methodTest] = [...document.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);
  const [subjectFile] = document.match(/src\/api\/methods\/[a-z/-]+\.ts/)!;
  const [testFile] = document.match(/test\/methods\/[a-z/-]+\.test\.ts/)!;
  return { definition: definition!, list: list!, methodTest: methodTest!, subjectFile, testFile };
}

/** Compiler errors of all files that involve the method. */
function compile(root: string, testFile: string): string[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(root, PROJECT)] }).getProjects();
    const { program, rootFiles } = project!;
    const concerned = [...KNOW_METHODS, testFile].map((path) => join(root, path));
    return typeErrors(
      program,
      rootFiles.filter((file) => concerned.some((path) => file.startsWith(path))),
    );
  } finally {
    api.close();
  }
}

/** A copy of this tree after the steps. */
function takeSteps(): { root: string; testFile: string } {
  const { definition, list, methodTest, subjectFile, testFile } = readWalkThrough();
  const root = tempDirectory();
  for (const name of COPIED) cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  const subject = readFileSync(join(root, subjectFile), "utf8");
  const start = list.slice(0, list.indexOf("["));
  const before = subject.split("\n").find((line) => line.startsWith(start));
  expect(before, `${subjectFile} has the list that the document names`).toBeDefined();
  writeFileSync(join(root, subjectFile), subject.replace(`${before}\n`, `${definition}\n${list}`));
  writeFileSync(join(root, testFile), methodTest);
  // The other tests do not include the method.
  const project = { extends: "./tsconfig.json", include: ["src", testFile], exclude: ["src/web", "src/**/*.test.ts"] };
  writeFileSync(join(root, PROJECT), JSON.stringify(project));
  return { root, testFile };
}

it("a method added as in docs/adding-a-method.md works everywhere", async () => {
  const { root, testFile } = takeSteps();
  const at = (path: string) => join(root, path);
  const tool = async (script: string, args: string[] = []) => {
    const run = new ProgramProcess(args, { name: script, bin: at(script), cwd: root });
    const { code } = await run.exited;
    expect(code, run.output).toBe(0);
    return run.output;
  };

  expect(compile(root, testFile)).toEqual([]);
  // In one process, which loads the definitions once.
  const documents = ["methods-doc", "rest-doc", "client-types"].map((name) => `import "./scripts/${name}.ts";\n`);
  writeFileSync(at("documents.ts"), documents.join(""));
  await tool("documents.ts");
  await tool("node_modules/vitest/vitest.mjs", ["run", testFile]);
  expect(readFileSync(at("docs/methods/chain.md"), "utf8")).toContain("## getFinalizedEpoch");
  expect(readFileSync(at("src/client/methods.ts"), "utf8")).toContain("getFinalizedEpoch(");
  expect(readFileSync(at("docs/rest.md"), "utf8")).toContain("`GET /fanal/v1/chain/finalized_epoch`");

  const bin = at("bin/fanal.js");
  const program = await Program.dev(["--validators", "16", "--rest", "--rest-port", "0", "--data-dir", at("data")], {
    bin,
  });
  const [, restUrl] = await program.untilLine(/REST is served at (http:\S+)/);
  await program.untilLine(/Dev chain is running/);
  const epoch = await program.call<string>("getFinalizedEpoch");
  expect(Number(epoch)).toBeGreaterThan(0);
  const response = await fetch(`${restUrl}/fanal/v1/chain/finalized_epoch`);
  expect(await response.json()).toEqual({ data: epoch });
  const { methods } = await program.call<{ methods: { name: string }[] }>("rpc.discover");
  expect(methods.map(({ name }) => name)).toContain("getFinalizedEpoch");
  expect(await tool("bin/fanal.js", ["call", "getFinalizedEpoch", "--url", program.url])).toBe(epoch);
  expect(await tool("bin/fanal.js", ["methods"])).toContain("getFinalizedEpoch");
});
