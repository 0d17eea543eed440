import type { FlagSources } from "../resolve-flags.ts";

const SERVERS = { rpc: "rpc", ethRpc: "eth-rpc", rest: "rest", metrics: "metrics" } as const;
/** Flags of `--rpc` that do not apply to `--eth-rpc`. */
const RPC_ONLY = ["rpc-port", "rpc-address"];

type ServerKey = keyof typeof SERVERS;

/** Which servers are enabled. `ethRpc` is omitted by commands without it. */
export type EnabledServers = Readonly<Record<Exclude<ServerKey, "ethRpc">, boolean>> & { readonly ethRpc?: boolean };

/** Returns warnings about command line flags of servers that are off. */
export function unusedFlagWarnings({ given }: Pick<FlagSources, "given">, asked: EnabledServers): string[] {
  const off = (Object.keys(SERVERS) as ServerKey[]).filter((server) => !asked[server]);
  return off.flatMap((server) => {
    const flag = SERVERS[server];
    const isUnused = (name: string) =>
      server === "rpc" && asked.ethRpc ? RPC_ONLY.includes(name) : name.startsWith(`${flag}-`);
    const names = [...given.keys()].filter(isUnused).map((name) => `--${name}`);
    if (names.length === 0) return [];
    return [`${names.join(", ")} ${names.length === 1 ? "has" : "have"} no effect without --${flag}`];
  });
}
