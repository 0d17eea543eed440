import { resolve } from "node:path";
import { usageError } from "../exit.ts";
import { type FlagSources, resolveFlags } from "../flags/resolve-flags.ts";
import type { Terminal } from "../terminal.ts";
import { readToken } from "../token-file.ts";
import { paramsText } from "./params.ts";

/** What of the flags says how a node is called. */
export function connectionOf(sources: FlagSources) {
  const { tokenFile, ...flags } = resolveFlags("call", sources);
  const token = tokenFile === undefined ? undefined : readToken(resolve(sources.workingDirectory, tokenFile));
  return { ...flags, token };
}

/** Calls a running node as the words after `fanal call` say. Nothing of the chain is loaded for it. */
export async function callAsWritten(
  written: readonly string[],
  sources: FlagSources,
  terminal: Terminal,
  signal?: AbortSignal,
): Promise<number> {
  const [method, ...params] = written;
  if (method === undefined) {
    throw usageError(
      'The method to call is missing: "fanal methods" lists the methods, "fanal call --help" shows how.',
    );
  }
  const connection = connectionOf(sources);
  const text = await paramsText(params, {
    workingDirectory: sources.workingDirectory,
    readInput: () => terminal.readInput(),
  });
  const { runCall } = await import("./call.ts");
  return runCall({ ...connection, method, params: text, signal }, terminal);
}
