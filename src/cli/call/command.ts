import { resolve } from "node:path";
import { usageError } from "../exit.ts";
import { type FlagSources, resolveFlags } from "../flags/resolve-flags.ts";
import type { Terminal } from "../terminal.ts";
import { readToken } from "../token-file.ts";
import type { CallOptions } from "./call.ts";
import { paramsText } from "./params.ts";

/** Seconds that `fanal call` waits for a node on this machine. A node takes 3 to 10 seconds to start. */
export const START_SECONDS = 30;

/** Resolves the connection flags, and reads the token file. */
export function resolveConnection(sources: FlagSources) {
  const { tokenFile, ...flags } = resolveFlags("call", sources);
  const token = tokenFile === undefined ? undefined : readToken(resolve(sources.workingDirectory, tokenFile));
  return { ...flags, token };
}

/** Runs `fanal call` without loading any chain code. */
export async function runCallCommand(
  operands: readonly string[],
  sources: FlagSources,
  terminal: Terminal,
  execution: Pick<CallOptions, "waitSeconds" | "signal"> = {},
): Promise<number> {
  const [method, ...params] = operands;
  if (method === undefined) {
    throw usageError('Missing method. "fanal methods" lists the methods, "fanal call --help" shows the usage.');
  }
  const connection = resolveConnection(sources);
  const text = await paramsText(params, {
    workingDirectory: sources.workingDirectory,
    readInput: () => terminal.readInput(),
  });
  const { runCall } = await import("./call.ts");
  return runCall({ ...connection, method, params: text, ...execution }, terminal);
}
