import { join, resolve } from "node:path";
import type { ExecutionClientOptions } from "../../node/execution/execution-client.ts";
import { usageError } from "../exit.ts";
import { type FlagTable, type FlagValues, listFlag, valueFlag } from "./flag.ts";
import { httpUrl, nonEmpty } from "./flag-values.ts";

const DEFAULT_SECRET_FILE = "jwt.hex";

/** The flags by which a node finds its execution clients. */
export const EXECUTION_FLAGS = {
  el: listFlag({
    name: "el",
    aliases: ["web3-url"],
    placeholder: "URL",
    description:
      "Engine API of an execution client, such as http://127.0.0.1:8551; repeatable, the next one is used while those before it are away",
    parse: httpUrl,
  }),
  jwtSecret: valueFlag({
    name: "jwt-secret",
    kind: "text",
    placeholder: "FILE",
    description: "File with the secret that the execution client shares: 64 hex digits; it is made when there is none",
    fallback: undefined,
    fallbackText: `${DEFAULT_SECRET_FILE} in the data directory`,
    parse: nonEmpty("a file"),
  }),
} as const satisfies FlagTable;

/** Undefined for a node without an execution client. */
export function executionClient(
  { el, jwtSecret }: FlagValues<typeof EXECUTION_FLAGS>,
  dataDir: string,
  workingDirectory: string,
): ExecutionClientOptions | undefined {
  if (el.length === 0) {
    if (jwtSecret === undefined) return undefined;
    throw usageError("--jwt-secret is of no use without --el, the URL of an execution client.");
  }
  const jwtSecretFile =
    jwtSecret === undefined ? join(dataDir, DEFAULT_SECRET_FILE) : resolve(workingDirectory, jwtSecret);
  return { urls: distinctUrls(el), jwtSecretFile };
}

/** One URL may be written in several ways. */
function distinctUrls(urls: readonly string[]): string[] {
  const normalized = urls.map((url) => new URL(url).href);
  return urls.filter((_, index) => normalized.indexOf(normalized[index]!) === index);
}
