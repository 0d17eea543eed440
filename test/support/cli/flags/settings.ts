import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { EXIT_CODES, StartupError } from "../../../../src/cli/exit.ts";
import { parseCommandLine } from "../../../../src/cli/flags/command-line.ts";
import { ConfigProblems } from "../../../../src/cli/flags/config-problems.ts";
import { devSettings } from "../../../../src/cli/flags/dev/dev-settings.ts";
import { gatewaySettings } from "../../../../src/cli/flags/gateway/gateway-settings.ts";
import { nodeSettings } from "../../../../src/cli/flags/node/node-settings.ts";
import { resolveFlags } from "../../../../src/cli/flags/resolve-flags.ts";
import type { DevIdentity } from "../../../../src/dev/identity.ts";

/** Resolves settings in a temporary working directory, which is removed after the tests of the file. */
export function settingsInTemporaryDirectory() {
  const folder = mkdtempSync(join(tmpdir(), "fanal-options-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  function sources(argv: string[], environment: Record<string, string> = {}) {
    const line = parseCommandLine(argv, "0.0.0");
    if (line.kind !== "run") throw new Error("The arguments do not run a command.");
    return { flagTexts: line.flagTexts, environment, workingDirectory: folder };
  }
  return {
    folder,
    dev: (argv: string[] = [], environment?: Record<string, string>, stored?: DevIdentity) =>
      devSettings(resolveFlags("dev", sources(["dev", ...argv], environment)), folder, stored),
    node: (argv: string[] = [], environment?: Record<string, string>) =>
      nodeSettings(resolveFlags("node", sources(["node", ...argv], environment)), folder),
    gateway(argv: string[] = [], environment?: Record<string, string>) {
      const problems = new ConfigProblems();
      const settings = gatewaySettings(sources(["gateway", ...argv], environment), problems);
      problems.throwIfAny();
      return settings;
    },
    /** Writes a file to that directory and returns its name. */
    file(name: string, text: string): string {
      writeFileSync(join(folder, name), text);
      return name;
    },
  };
}

/** Returns the message of the expected usage error. */
export function refusal(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof StartupError && error.exitCode === EXIT_CODES.usage) return error.message;
    throw error;
  }
  throw new Error("No usage error was thrown.");
}
