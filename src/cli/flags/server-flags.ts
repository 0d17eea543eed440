import { accessFlags } from "./access-flags.ts";
import { booleanFlag, type FlagTable, type FlagValues, valueFlag } from "./flag.ts";
import { address, wholeNumber } from "./flag-values.ts";

const rpcAccess = accessFlags("rpc", "the JSON-RPC interface");
const restAccess = accessFlags("rest", "the REST API");

/** Flags of the JSON-RPC, REST and metrics servers. `areOn` is the default of the first two. */
export function serverFlags({ areOn }: { areOn: boolean }) {
  return {
    rpc: booleanFlag({ name: "rpc", description: "Serve the JSON-RPC interface", fallback: areOn }),
    rpcPort: valueFlag({
      name: "rpc-port",
      kind: "number",
      placeholder: "PORT",
      description: "Port of the JSON-RPC interface; 0 for any free port",
      fallback: 9190,
      parse: wholeNumber(0, 65535),
    }),
    rpcAddress: valueFlag({
      name: "rpc-address",
      kind: "text",
      placeholder: "ADDRESS",
      description: "Address the JSON-RPC interface listens on",
      fallback: "127.0.0.1",
      parse: address,
    }),
    web: booleanFlag({
      name: "web",
      description: "Serve the web interface at the address of the JSON-RPC interface",
      fallback: true,
    }),
    rpcVhosts: rpcAccess.vhosts,
    rpcAllowOrigin: rpcAccess.allowOrigin,
    rpcApi: rpcAccess.api,
    rpcTokenFile: rpcAccess.tokenFile,
    rpcAllowAnyone: rpcAccess.allowAnyone,
    rest: booleanFlag({ name: "rest", description: "Serve the standard REST API", fallback: areOn }),
    restPort: valueFlag({
      name: "rest-port",
      kind: "number",
      placeholder: "PORT",
      description: "Port of the REST API; 0 for any free port",
      fallback: 5052,
      parse: wholeNumber(0, 65535),
    }),
    restAddress: valueFlag({
      name: "rest-address",
      kind: "text",
      placeholder: "ADDRESS",
      description: "Address the REST API listens on",
      fallback: "127.0.0.1",
      parse: address,
    }),
    restVhosts: restAccess.vhosts,
    restAllowOrigin: restAccess.allowOrigin,
    restApi: restAccess.api,
    restTokenFile: restAccess.tokenFile,
    restAllowAnyone: restAccess.allowAnyone,
    metrics: booleanFlag({ name: "metrics", description: "Serve Prometheus metrics at /metrics" }),
    metricsPort: valueFlag({
      name: "metrics-port",
      kind: "number",
      placeholder: "PORT",
      description: "Port of the metrics; 0 for any free port",
      fallback: 8008,
      parse: wholeNumber(0, 65535),
    }),
    metricsAddress: valueFlag({
      name: "metrics-address",
      kind: "text",
      placeholder: "ADDRESS",
      description: "Address the metrics server listens on; it has no access control",
      fallback: "127.0.0.1",
      parse: address,
    }),
  } as const satisfies FlagTable;
}

export type ServerValues = FlagValues<ReturnType<typeof serverFlags>>;
