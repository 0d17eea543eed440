import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { DevIdentity } from "../../dev/identity.ts";
import { EXIT_CODES, StartupError } from "../exit.ts";
import { parseCommandLine } from "./command-line.ts";
import { ConfigProblems } from "./config-problems.ts";
import { devSettings } from "./dev/dev-settings.ts";
import { gatewaySettings } from "./gateway/gateway-settings.ts";
import { nodeSettings } from "./node/node-settings.ts";
import { resolveFlags } from "./resolve-flags.ts";

/** Resolves settings in a temporary working directory, which is removed after the tests of the file. */
export function settingsInTemporaryDirectory() {
  const folder = mkdtempSync(join(tmpdir(), "fanal-options-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  function sources(argv: string[], environment: Record<string, string> = {}) {
    const line = parseCommandLine(argv, "0.0.0");
    if (line.kind !== "run") throw new Error("The arguments do not run a command.");
    return { given: line.given, environment, workingDirectory: folder };
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
    /** Writes a file there and returns its name. */
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
