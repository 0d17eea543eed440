import { openAccessLog } from "../../log/access-log-writer.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogFile } from "../../log/rotating-file.ts";
import type { Servers, ServersOptions } from "../../node/servers/servers.ts";
import { usageError } from "../exit.ts";
import type { LogOptions, ServerSettings } from "../flags/options.ts";
import type { ServerAccess } from "../flags/server/server-access.ts";
import { openToken } from "../token-file.ts";

/** Converts flags to server options. */
export function serverOptions<Limits>(
  options: ServerSettings & Pick<LogOptions, "accessLog"> & { limits: Limits },
  logger: Logger,
): Omit<ServersOptions, "limits"> & { limits: Limits } {
  const { rpc, rpcAddress, rpcPort, rpcAccess, rest, restAddress, restPort, restAccess, limits } = options;
  const { web, metrics, metricsAddress, metricsPort, accessLog } = options;
  return {
    limits,
    ...(rpc && { jsonRpc: { host: rpcAddress, port: rpcPort, page: web, access: accessOptions(rpcAccess, logger) } }),
    ...(rest && { rest: { host: restAddress, port: restPort, access: accessOptions(restAccess, logger) } }),
    ...(metrics && { metrics: { host: metricsAddress, port: metricsPort } }),
    ...(accessLog && { writeAccess: accessLogWriter(accessLog, logger) }),
  };
}

function accessLogWriter(where: NonNullable<LogOptions["accessLog"]>, logger: Logger): (lines: string) => void {
  try {
    const writer = openAccessLog(where, logger);
    return (lines) => writer.write(lines);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`The access log ${(where as LogFile).path} cannot be written: ${reason}.`, error);
  }
}

function accessOptions({ vhosts, allowOrigin, api, tokenFile }: ServerAccess, logger: Logger) {
  const token = tokenFile === undefined ? undefined : openToken(tokenFile, logger);
  return { virtualHosts: vhosts, allowedOrigins: allowOrigin, classes: api, token };
}

/** Logs the URLs of the servers and an example call, or how to enable them. */
export function announceServers(
  { jsonRpcUrl, restUrl, metricsUrl }: Pick<Servers, "jsonRpcUrl" | "restUrl" | "metricsUrl">,
  { web, rpcAccess: { tokenFile } }: Pick<ServerSettings, "web" | "rpcAccess">,
  logger: Logger,
  platform: string = process.platform,
): void {
  if (jsonRpcUrl === undefined) {
    logger.info("JSON-RPC server is off, enable it with --rpc");
  } else {
    logger.notice(`JSON-RPC is served at ${jsonRpcUrl}`);
    logger.notice(`Try: ${firstCall(jsonRpcUrl, tokenFile, platform)}`);
    if (web) logger.notice(`Web interface: ${jsonRpcUrl}`);
  }
  if (restUrl === undefined) logger.info("REST server is off, enable it with --rest");
  else logger.notice(`REST is served at ${restUrl}`);
  if (metricsUrl !== undefined) logger.notice(`Metrics are served at ${metricsUrl}/metrics`);
}

/**
 * Returns an example call to paste into a shell. On Windows it contains no JSON, since quoting differs between shells.
 */
function firstCall(url: string, tokenFile: string | undefined, platform: string): string {
  if (platform === "win32") {
    return `fanal call getChainHead --url ${url}${tokenFile === undefined ? "" : ` --token-file "${tokenFile}"`}`;
  }
  const authorization = tokenFile === undefined ? "" : ` -H "Authorization: Bearer $(cat '${tokenFile}')"`;
  const body = '{"jsonrpc":"2.0","id":1,"method":"getChainHead","params":[]}';
  return `curl -s ${url}${authorization} -H 'Content-Type: application/json' -d '${body}'`;
}
