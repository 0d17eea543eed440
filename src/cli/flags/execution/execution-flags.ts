import { join, resolve } from "node:path";
import type { ExecutionSettings } from "../../../node/execution/execution-client.ts";
import { usageError } from "../../exit.ts";
import { type FlagTable, type FlagValues, listFlag, valueFlag } from "../flag.ts";
import { httpUrl, nonEmpty } from "../flag-values.ts";

const DEFAULT_SECRET_FILE = "jwt.hex";

/** Flags for the connection to execution clients. */
export const EXECUTION_FLAGS = {
  el: listFlag({
    name: "el",
    aliases: ["web3-url"],
    placeholder: "URL",
    description:
      "Engine API of an execution client, such as http://127.0.0.1:8551; repeatable, later ones are failovers",
    parse: httpUrl,
  }),
  jwtSecret: valueFlag({
    name: "jwt-secret",
    kind: "text",
    placeholder: "FILE",
    description: "File with the JWT secret shared with the execution client, 64 hex digits; created if missing",
    fallback: undefined,
    fallbackText: `${DEFAULT_SECRET_FILE} in the data directory`,
    parse: nonEmpty("a file"),
  }),
} as const satisfies FlagTable;

/** Converts flags to settings. Returns undefined if there is no execution client. */
export function executionSettings(
  { el, jwtSecret }: FlagValues<typeof EXECUTION_FLAGS>,
  dataDir: string,
  workingDirectory: string,
): ExecutionSettings | undefined {
  if (el.length === 0) {
    if (jwtSecret === undefined) return undefined;
    throw usageError("--jwt-secret requires --el, the URL of an execution client.");
  }
  const jwtSecretFile =
    jwtSecret === undefined ? join(dataDir, DEFAULT_SECRET_FILE) : resolve(workingDirectory, jwtSecret);
  return { urls: distinctUrls(el), jwtSecretFile };
}

/** Removes duplicates, comparing normalized URLs. */
function distinctUrls(urls: readonly string[]): string[] {
  const normalized = urls.map((url) => new URL(url).href);
  return urls.filter((_, index) => normalized.indexOf(normalized[index]!) === index);
}
