import { resolve } from "node:path";
import type { ApiOptions, EthRpcOptions, JsonRpcOptions, ServersOptions } from "../../../node/servers/servers.ts";
import { isLoopbackHost } from "../../../server/http/access/loopback.ts";
import { ConfigProblems } from "../config-problems.ts";
import { SettingError } from "../setting-error.ts";
import type { ServerValues } from "./server-flags.ts";
import { requireDistinctPorts } from "./server-ports.ts";

type AccessOptions = NonNullable<ApiOptions["access"]>;

/** Server options whose token file has not been read yet. */
export type WithTokenFile<Options extends ApiOptions> = Omit<Options, "access"> & { access: AccessSettings };

export interface AccessSettings extends Omit<Required<AccessOptions>, "allowsLocalPages" | "classes" | "token"> {
  /** Undefined for the default, which depends on the address. */
  classes: AccessOptions["classes"];
  /** Absolute path. */
  tokenFile: string | undefined;
}

/** Settings of the servers, each undefined if the server is off. */
export interface ServerSettings {
  jsonRpc: WithTokenFile<JsonRpcOptions> | undefined;
  ethRpc?: WithTokenFile<EthRpcOptions> | undefined;
  rest: WithTokenFile<ApiOptions> | undefined;
  signer?: WithTokenFile<ApiOptions> | undefined;
  metrics: ServersOptions["metrics"];
}

interface ServerContext {
  /** True if every request requires an API key, in which case a server may be reachable without a token. */
  needsKeys?: boolean;
  /** Collects problems. By default, problems are thrown. */
  problems?: ConfigProblems;
}

export function serverSettings(
  values: ServerValues,
  workingDirectory: string,
  { needsKeys = false, problems }: ServerContext = {},
): ServerSettings {
  const { rpc, rest, metrics, web: page } = values;
  const collected = problems ?? new ConfigProblems();
  const listening = [
    { flagPrefix: "rpc", isOn: rpc, address: values.rpcAddress, port: values.rpcPort },
    { flagPrefix: "rest", isOn: rest, address: values.restAddress, port: values.restPort },
    { flagPrefix: "metrics", isOn: metrics, address: values.metricsAddress, port: values.metricsPort },
  ];
  for (const [index, one] of listening.entries()) {
    for (const other of listening.slice(index + 1)) {
      const settings = [one, other].flatMap(({ flagPrefix: name }) => [name, `${name}-port`, `${name}-address`]);
      collected.check(settings, () => requireDistinctPorts([one, other]));
    }
  }
  const api = (server: AccessFlags) => {
    const access = ["address", "token-file", "allow-anyone"].map((name) => `${server}-${name}`);
    return collected.check([server, ...access], () => apiSettings(server, values, workingDirectory, needsKeys));
  };
  const [jsonRpc, restApi] = [rpc ? api("rpc") : undefined, rest ? api("rest") : undefined];
  if (problems === undefined) collected.throwIfAny();
  return {
    jsonRpc: jsonRpc && { ...jsonRpc, page },
    rest: restApi,
    metrics: metrics ? { host: values.metricsAddress, port: values.metricsPort } : undefined,
  };
}

/** Returns the settings of an enabled server. */
function apiSettings(server: AccessFlags, values: ServerValues, workingDirectory: string, needsKeys: boolean) {
  const host = values[`${server}Address`];
  const access = accessSettings({ flagPrefix: server, server, host, needsKeys }, values, workingDirectory);
  return { host, port: values[`${server}Port`], access };
}

/** Prefix of the flags that restrict access to a server. */
type AccessFlags = "rpc" | "rest";

interface AccessedServer {
  /** Prefix of the address flag. */
  flagPrefix: string;
  server: AccessFlags;
  host: string;
  needsKeys?: boolean;
}

/** Throws if a server is exposed to other machines without an explicit decision to do so. */
export function accessSettings(
  { flagPrefix, server, host, needsKeys = false }: AccessedServer,
  values: ServerValues,
  workingDirectory: string,
): AccessSettings {
  const api = values[`${server}Api`];
  const tokenFile = values[`${server}TokenFile`];
  const isProtected = tokenFile !== undefined || needsKeys;
  if (!isLoopbackHost(host) && !isProtected && !values[`${server}AllowAnyone`]) {
    const flag = `${flagPrefix}-address`;
    throw new SettingError(
      flag,
      (nameOf) =>
        `${nameOf(flag)} ${host} exposes the server to other machines. Require a token with ` +
        `${nameOf(`${server}-token-file`)} FILE, allow access without one with ${nameOf(`${server}-allow-anyone`)}, ` +
        "or use a loopback address such as 127.0.0.1",
    );
  }
  return {
    virtualHosts: values[`${server}Vhosts`],
    allowedOrigins: values[`${server}AllowOrigin`],
    classes: api.length === 0 ? undefined : api,
    trustedProxies: values.trustedProxy,
    tokenFile: tokenFile === undefined ? undefined : resolve(workingDirectory, tokenFile),
  };
}
