import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DEFAULT_CHAIN_SETTINGS } from "./settings.ts";

it("declares only settings that a part of the chain reads", () => {
  const sources = globSync("**/*.ts", { cwd: import.meta.dirname }).filter((path) => !path.includes(".test"));
  const picks = sources.flatMap((path) =>
    Array.from(
      readFileSync(join(import.meta.dirname, path), "utf8").matchAll(/Pick<ChainSettings, ([^>]+)>/g),
      ([, keys]) => keys!,
    ),
  );
  const read = picks.flatMap((keys) => Array.from(keys.matchAll(/"(\w+)"/g), ([, key]) => key));
  expect(Object.keys(DEFAULT_CHAIN_SETTINGS).filter((key) => !read.includes(key))).toEqual([]);
});
