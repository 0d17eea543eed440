import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { "timeout-minutes"?: number; permissions?: Record<string, string>; steps: { run?: string }[] }>;
}

const workflows = globSync(".github/workflows/*.yml", { cwd: ROOT });

it.each(workflows)("%s pins its actions, and may only read by default", (path) => {
  const uses = [...read(path).matchAll(/uses: (.+)/g)].map(([, action]) => action!);
  expect(uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  const { permissions, jobs } = parse(read(path)) as Workflow;
  expect(permissions).toEqual({ contents: "read" });
  for (const job of Object.values(jobs)) expect(job["timeout-minutes"]).toBeLessThanOrEqual(60);
});

it("the release publishes a tested tarball with provenance, not the checkout", () => {
  const { npm } = (parse(read(".github/workflows/release.yml")) as Workflow).jobs;
  const commands = npm!.steps.flatMap(({ run }) => run ?? []);
  const publish = commands.at(-1)!;
  expect(publish).toMatch(/npm publish "\.\/fanal-.+\.tgz" --provenance/);
  expect(commands.indexOf("npm test")).toBeLessThan(commands.indexOf("npm pack"));
  expect(npm!.permissions).toMatchObject({ "id-token": "write" });
});

it("the lock file and the changelog have the version of the package", () => {
  const { version } = JSON.parse(read("package.json"));
  const lock = JSON.parse(read("package-lock.json"));
  expect([lock.version, lock.packages[""].version]).toEqual([version, version]);
  expect(read("CHANGELOG.md")).toContain(`\n## [${version}] - `);
});
