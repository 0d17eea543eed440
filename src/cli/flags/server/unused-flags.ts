import type { FlagSources } from "../resolve-flags.ts";

const SERVERS = { rpc: "rpc", ethRpc: "eth-rpc", rest: "rest", metrics: "metrics" } as const;
/** `--rpc` flags that do not apply to `--eth-rpc`. */
const RPC_ONLY = ["rpc-port", "rpc-address"];
/** `--rest` flags that do not apply to the signer. */
const REST_ONLY = ["rest-port", "rest-address"];

type ServerKey = keyof typeof SERVERS;

/** Enabled servers. Commands without `ethRpc` or `signerPort` omit them. */
export type EnabledServers = Readonly<Record<Exclude<ServerKey, "ethRpc">, boolean>> & {
  readonly ethRpc?: boolean;
  readonly signerPort?: number | undefined;
};

/** Returns warnings about command line flags for servers that are off. */
export function unusedFlagWarnings({ flagTexts }: Pick<FlagSources, "flagTexts">, enabled: EnabledServers): string[] {
  const off = (Object.keys(SERVERS) as ServerKey[]).filter((server) => !enabled[server]);
  return off.flatMap((server) => {
    const flag = SERVERS[server];
    const isUnused = (name: string) => {
      if (server === "rpc" && enabled.ethRpc) return RPC_ONLY.includes(name);
      if (server === "rest" && enabled.signerPort !== undefined) return REST_ONLY.includes(name);
      return name.startsWith(`${flag}-`);
    };
    const names = [...flagTexts.keys()].filter(isUnused).map((name) => `--${name}`);
    if (names.length === 0) return [];
    return [`${names.join(", ")} ${names.length === 1 ? "has" : "have"} no effect without --${flag}`];
  });
}
