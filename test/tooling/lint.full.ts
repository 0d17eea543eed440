import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const LINT = join(ROOT, "scripts", "lint.ts");

/** Runs the real lint with the repository's settings on a tree of the given files. */
async function lint(files: Record<string, string>, ...options: string[]) {
  const root = tempDirectory();
  for (const name of ["biome.json", "tsconfig.json"]) cpSync(join(ROOT, name), join(root, name));
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  mkdirSync(join(root, ".git"));
  writeFileSync(join(root, ".gitignore"), "node_modules\n");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const child = spawn(process.execPath, [LINT, ...options], { cwd: root });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const [code] = await once(child, "close");
  return { code, output };
}

const PART = "export const part = 1;\n";
const TYPE = "export interface Part {\n  size: number;\n}\n";

describe("lint", () => {
  it("accepts imports of lower folders, type imports where only types are allowed, and any import in tests", async () => {
    const { code, output } = await lint({
      "src/runtime/version.ts": PART,
      "src/db/part.ts": 'export { part } from "../runtime/version.ts";\n',
      "src/errors/failure.ts": PART,
      "src/server/errors.ts": 'export { part } from "../errors/failure.ts";\n',
      "src/server/method-table.ts": TYPE,
      "src/api/answer.ts":
        'import { part } from "../db/part.ts";\nimport type { Part } from "../server/method-table.ts";\n\nexport const answer: Part = { size: part };\n',
      "src/db/part.test.ts": 'import { answer } from "../api/answer.ts";\n\nexport const tested = answer;\n',
    });
    expect(output).not.toMatch(/^src/m);
    expect(code).toBe(0);
  });

  it("rejects every kind of import of a forbidden folder", async () => {
    const ways = {
      "src/chain/value.ts": 'import { part } from "../api/part.ts";\n\nexport const value = part;\n',
      "src/chain/type.ts": 'import type { part } from "../api/part.ts";\n\nexport type Whole = typeof part;\n',
      "src/chain/export.ts": 'export { part } from "../api/part.ts";\n',
      "src/chain/dynamic.ts": 'export const load = () => import("../api/part.ts");\n',
      "src/chain/type-of.ts": 'export type Whole = typeof import("../api/part.ts").part;\n',
    };
    const { code, output } = await lint({ "src/api/part.ts": PART, ...ways });
    for (const path of Object.keys(ways)) {
      expect(output).toContain(`${path}:1: src/chain may not import src/api (src/api/part.ts)`);
    }
    expect(code).toBe(1);
  });

  it("rejects an Omit of a key that the type does not have", async () => {
    const { code, output } = await lint({
      "src/db/part.ts": `${TYPE}export type Rest = Omit<Part, "size">;\nexport type All = Omit<Part, "length">;\n`,
      "src/db/generic.ts": 'export type Rest<T> = Omit<T, "size">;\n',
    });
    expect(output.match(/^src.*/gm)).toEqual(['src/db/part.ts:5: Omit names "length", which the type does not have.']);
    expect(code).toBe(1);
  });

  it("rejects vague names of variables, parameters, functions, methods and properties in src", async () => {
    const declarations = `export const { given, size: place } = { given: 1, size: 2 };
export interface Held {
  made: number;
  kept(): void;
}
export class Whole {
  #asked = 1;
  told(facts: number): number {
    return facts + this.#asked;
  }
}
export function said(input = { whole: 1 }): number {
  return input.whole;
}
`;
    const { code, output } = await lint({ "src/db/part.ts": declarations, "test/db/part.ts": declarations });
    const names = [...output.matchAll(/^src\/db\/part\.ts:(\d+): "(\w+)" does not name the value/gm)];
    expect(names.map(([, line, name]) => `${line} ${name}`)).toEqual([
      "1 given",
      "1 place",
      "3 made",
      "4 kept",
      "7 asked",
      "8 told",
      "8 facts",
      "12 said",
    ]);
    expect(output).not.toMatch(/^test/m);
    expect(code).toBe(1);
  });

  it("rejects a reserved file outside of its folders", async () => {
    const { code, output } = await lint({
      "src/errors/failure.ts": PART,
      "src/chain/part.ts": 'export { part } from "../errors/failure.ts";\n',
    });
    expect(output).toContain(
      "src/chain/part.ts:1: src/chain may not import src/errors/failure.ts; only server, api, gateway, cli may.",
    );
    expect(code).toBe(1);
  });

  it("rejects every import of a standalone folder from outside", async () => {
    const { code, output } = await lint({
      "src/runtime/version.ts": PART,
      "src/client/part.ts": PART,
      "src/client/own.ts": 'export { part } from "./part.ts";\n',
      "src/client/file.ts": 'export { part } from "../runtime/version.ts";\n',
      "src/client/node.ts": 'export { join } from "node:path";\n',
    });
    expect(output).toContain("src/client/file.ts:1: src/client may not import src/runtime/version.ts: it also runs");
    expect(output).toContain("src/client/node.ts:1: src/client may not import node:path: it also runs without Node");
    expect(output).not.toContain("own.ts");
    expect(code).toBe(1);
  });

  it("rejects a value import where only types are allowed", async () => {
    const { code, output } = await lint({
      "src/server/method-table.ts": PART,
      "src/api/answer.ts": 'import { part } from "../server/method-table.ts";\n\nexport const answer = part;\n',
    });
    expect(output).toContain("src/api/answer.ts:1: src/api may import only types of src/server/method-table.ts");
    expect(code).toBe(1);
  });

  it("rejects test support in the program, imports of common folders from above, and files directly in src", async () => {
    const { code, output } = await lint({
      "test/support/db/part.ts": PART,
      "src/db/part.ts": 'export { part } from "../../test/support/db/part.ts";\n',
      "src/db/rows.test-support.ts": PART,
      "src/db/other.ts": PART,
      "src/async/part.ts": 'export { part } from "../db/other.ts";\n',
      "src/runtime/part.ts": 'export { part } from "../async/part.ts";\n',
      "src/part.ts": PART,
    });
    expect(output).toContain("src/db/part.ts:1: test/support/db/part.ts is not part of the program");
    expect(output).toContain("src/db/rows.test-support.ts:1: Test support belongs to test/support/");
    expect(output).toContain("src/async/part.ts:1: src/async may not import src/db");
    expect(output).toContain("src/runtime/part.ts:1: src/runtime may not import src/async");
    expect(output).toContain("src/part.ts:1: No files directly in src/");
    expect(code).toBe(1);
  });

  it("rejects an import cycle, also of types", async () => {
    const { code, output } = await lint({
      "src/chain/head.ts":
        'import type { Tail } from "./tail.ts";\n\nexport interface Head {\n  tail: Tail | undefined;\n}\n',
      "src/chain/tail.ts":
        'import type { Head } from "./head.ts";\n\nexport interface Tail {\n  head: Head | undefined;\n}\n',
    });
    expect(output).toMatch(/src\/chain\/tail\.ts:1:\d+ lint\/suspicious\/noImportCycles/);
    expect(code).toBe(1);
  });

  it("rejects floating promises, and accepts handled ones", async () => {
    const { code, output } = await lint({
      "src/chain/work.ts": `import { once } from "node:events";

const work = async () => 1;
export const jobs = { last: work() };

export async function all(emitter: NodeJS.EventEmitter, isWanted: boolean): Promise<void> {
  work();
  once(emitter, "done");
  isWanted && work();
  work().then(() => 2);
  work().finally(() => {});
  import("node:fs");
  await work();
  void work();
  jobs.last = work();
  work().catch(() => 2);
  work().then(
    () => 2,
    () => 3,
  );
  work()
    .catch(() => 2)
    .finally(() => {});
}
`,
    });
    const lines = [...output.matchAll(/^src\/chain\/work\.ts:(\d+): Nobody waits for this promise/gm)];
    expect(lines.map(([, line]) => Number(line))).toEqual([7, 8, 9, 10, 11, 12]);
    expect(code).toBe(1);
  });
});

describe("lint with types", () => {
  it("rejects type errors with position and reason, also of the page", async () => {
    const { code, output } = await lint(
      {
        "src/chain/head.ts":
          'const unused = 1;\n\nexport const head: { slot: number } = { slot: "1" };\nconst tail = () => "1";\nexport const other: () => number = tail;\n',
        "src/web/tsconfig.json": '{ "extends": "../../tsconfig.json", "include": ["."], "exclude": [] }\n',
        "src/web/page.ts": 'export { none } from "./nowhere.ts";\n',
      },
      "--types",
    );
    expect(output).toMatch(/^src\/chain\/head\.ts:1: TS6133: 'unused' is declared but its value is never read\.$/m);
    expect(output).toMatch(/^src\/chain\/head\.ts:3: TS2322: Type 'string' is not assignable to type 'number'\.$/m);
    expect(output).toMatch(
      /^src\/chain\/head\.ts:5: TS2322: Type '\(\) => string' is not assignable .*\n {2}Type 'string' is not assignable/m,
    );
    expect(output).toMatch(/^src\/web\/page\.ts:1: TS2307: Cannot find module '\.\/nowhere\.ts'/m);
    expect(code).toBe(1);
  });
});
