import { spawnSync } from "node:child_process";
import type { TestContext } from "vitest";

/** Skips the test unless a program of Prometheus is installed, as by "apt-get install prometheus". */
export function skipWithout(program: "prometheus" | "promtool", context: TestContext): void {
  const isMissing = spawnSync(program, ["--version"]).status !== 0;
  context.skip(isMissing, `${program} is not on the PATH (Debian package prometheus)`);
}
