import { ACCESS_CLASSES } from "../../../server/access-class.ts";
import { booleanFlag, type FlagTable, type FlagValues, listFlag, valueFlag } from "../flag.ts";
import { address, network, nonEmpty, oneOf, virtualHost, webOrigin, wholeNumber } from "../flag-values.ts";

/** Access control flags of a server. */
function accessFlags(server: "rpc" | "rest", noun: string) {
  return {
    vhosts: listFlag({
      name: `${server}-vhosts`,
      placeholder: "NAME",
      description:
        `Host name accepted by ${noun}, besides localhost, the name it listens on and IP addresses; ` +
        "* for all; repeatable",
      parse: virtualHost,
    }),
    allowOrigin: listFlag({
      name: `${server}-allow-origin`,
      placeholder: "ORIGIN",
      description: `Origin whose web pages may use ${noun}, such as http://localhost:3000, or * for all; repeatable`,
      parse: webOrigin,
    }),
    api: listFlag({
      name: `${server}-api`,
      placeholder: "CLASS",
      description:
        `Class of methods that ${noun} serves: ${ACCESS_CLASSES.join(", ")}; ` +
        "repeatable, or several separated by commas",
      choices: ACCESS_CLASSES,
      fallbackText: "all where only this machine can connect, otherwise read,submit",
      parse: oneOf(ACCESS_CLASSES),
    }),
    tokenFile: valueFlag({
      name: `${server}-token-file`,
      kind: "text",
      placeholder: "FILE",
      description: `File with the token that clients of ${noun} must send; created if missing`,
      fallback: undefined,
      parse: nonEmpty("a file"),
    }),
    allowAnyone: booleanFlag({
      name: `${server}-allow-anyone`,
      description: `Allow other machines to use ${noun} without a token`,
    }),
  } as const;
}

const rpcAccess = accessFlags("rpc", "the JSON-RPC interface");
const restAccess = accessFlags("rest", "the REST API");

/** Flags for the JSON-RPC, REST and metrics servers. `areOn` is the default for JSON-RPC and REST. */
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
    trustedProxy: listFlag({
      name: "trusted-proxy",
      placeholder: "CIDR",
      description:
        "Address or network of proxies whose X-Forwarded-For names the client, for --rate-limit and --access-log; repeatable",
      parse: network,
    }),
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
