import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("has a lock file entry for every package, as npm ci requires", () => {
  interface Entry {
    dependencies?: Record<string, string>;
    optionalDependencies?: Record<string, string>;
  }
  const { packages } = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")) as {
    packages: Record<string, Entry>;
  };
  const names = Object.values(packages).flatMap(({ dependencies, optionalDependencies }) =>
    Object.keys({ ...dependencies, ...optionalDependencies }),
  );
  const isLocked = (name: string) => Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`));
  const missing = [...new Set(names)].filter((name) => !isLocked(name));
  expect(missing, 'run "node scripts/complete-lock-file.js"').toEqual([]);
});
