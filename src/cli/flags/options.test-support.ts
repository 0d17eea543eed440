import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { DevIdentity } from "../../dev/identity.ts";
import { EXIT_CODES, StartupError } from "../exit.ts";
import { parseCommandLine } from "./command-line.ts";
import { gatewayOptions } from "./gateway-options.ts";
import { devOptions, nodeOptions } from "./options.ts";
import { resolveFlags } from "./resolve-flags.ts";

/** What the arguments of a command come to, in a working directory that is gone after the tests of the file. */
export function optionsInTemporaryDirectory() {
  const folder = mkdtempSync(join(tmpdir(), "fanal-options-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  function sources(argv: string[], environment: Record<string, string> = {}) {
    const line = parseCommandLine(argv, "0.0.0");
    if (line.kind !== "run") throw new Error("The arguments run nothing.");
    return { given: line.given, environment, workingDirectory: folder };
  }
  return {
    folder,
    dev: (argv: string[] = [], environment?: Record<string, string>, stored?: DevIdentity) =>
      devOptions(resolveFlags("dev", sources(["dev", ...argv], environment)), folder, stored),
    node: (argv: string[] = [], environment?: Record<string, string>) =>
      nodeOptions(resolveFlags("node", sources(["node", ...argv], environment)), folder),
    gateway: (argv: string[] = [], environment?: Record<string, string>) =>
      gatewayOptions(resolveFlags("gateway", sources(["gateway", ...argv], environment)), folder),
    /** Writes a file there; the result is its name. */
    file(name: string, text: string): string {
      writeFileSync(join(folder, name), text);
      return name;
    },
  };
}

/** The complaint about a usage that is wrong. */
export function refusal(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof StartupError && error.exitCode === EXIT_CODES.usage) return error.message;
    throw error;
  }
  throw new Error("Nothing was refused.");
}
