import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const MIXED_LOAD_MINUTES = Number(process.env.SOAK_MIXED_LOAD_MINUTES ?? 30);
/** Duration of each of the six floods. */
const FLOOD_SECONDS = Number(process.env.SOAK_FLOOD_SECONDS ?? 600);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Benchmarks that fail by exit code. Their measurements are printed. */
it.each([
  [`${MIXED_LOAD_MINUTES} minutes of mixed load`, "mixed-load", MIXED_LOAD_MINUTES],
  [`${FLOOD_SECONDS} seconds of each flood by hostile peers`, "adversary", FLOOD_SECONDS],
])("%s", (_what, bench, length) => {
  const { status } = spawnSync(process.execPath, ["scripts/bench.ts", bench, String(length)], {
    cwd: ROOT,
    stdio: "inherit",
  });
  expect(status).toBe(0);
});
