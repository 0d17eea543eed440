import type { FlagSources } from "../resolve-flags.ts";

const SERVERS = ["rpc", "rest", "metrics"] as const;

/** Which servers are enabled. */
export type EnabledServers = Readonly<Record<(typeof SERVERS)[number], boolean>>;

/** Returns warnings about command line flags of servers that are off. */
export function unusedFlagWarnings({ given }: Pick<FlagSources, "given">, asked: EnabledServers): string[] {
  return SERVERS.filter((server) => !asked[server]).flatMap((server) => {
    const names = [...given.keys()].filter((name) => name.startsWith(`${server}-`)).map((name) => `--${name}`);
    if (names.length === 0) return [];
    return [`${names.join(", ")} ${names.length === 1 ? "has" : "have"} no effect without --${server}`];
  });
}
