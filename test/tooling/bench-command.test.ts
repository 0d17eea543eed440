import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

function bench(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, "scripts", "bench.ts"), ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("npm run bench", () => {
  it("lists every benchmark with a description", () => {
    const files = readdirSync(join(ROOT, "bench")).filter((name) => name.endsWith(".ts"));
    const { status, stdout } = bench();
    expect(status).toBe(0);
    const listed = [...stdout.matchAll(/^([a-z-]+) +\S.+$/gm)].map(([, name]) => `${name}.ts`);
    expect(listed.toSorted()).toEqual(files.toSorted());
  });

  it("suggests the nearest name for an unknown one", () => {
    expect(bench("json-rcp")).toEqual({
      status: 1,
      stdout: "",
      stderr: 'fanal: the benchmark "json-rcp" is not known. Did you mean json-rpc?\n',
    });
    expect(bench("something-else").stderr).toBe(
      'fanal: the benchmark "something-else" is not known. "npm run bench" lists all.\n',
    );
  });
});
