import { openAccessLog } from "../../log/access-log-writer.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogFile } from "../../log/rotating-file.ts";
import type { Servers, ServersOptions } from "../../node/servers/servers.ts";
import { usageError } from "../exit.ts";
import type { LogOptions, ServerSettings } from "../flags/options.ts";
import type { ServerAccess } from "../flags/server-access.ts";
import { openToken } from "../token-file.ts";

/** The servers that the flags ask for, with limits of whichever kind they take. */
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

/** Says where the servers are and how they are used, or how they are turned on. */
export function announceServers(
  { jsonRpcUrl, restUrl, metricsUrl }: Pick<Servers, "jsonRpcUrl" | "restUrl" | "metricsUrl">,
  { web, rpcAccess: { tokenFile } }: Pick<ServerSettings, "web" | "rpcAccess">,
  logger: Logger,
  platform: string = process.platform,
): void {
  if (jsonRpcUrl === undefined) {
    logger.info("The JSON-RPC server is off; --rpc turns it on");
  } else {
    logger.notice(`JSON-RPC is served at ${jsonRpcUrl}`);
    logger.notice(`Try: ${firstCall(jsonRpcUrl, tokenFile, platform)}`);
    if (web) logger.notice(`The chain can be looked at in a browser: ${jsonRpcUrl}`);
  }
  if (restUrl === undefined) logger.info("The REST server is off; --rest turns it on");
  else logger.notice(`REST is served at ${restUrl}`);
  if (metricsUrl !== undefined) logger.notice(`Metrics are served at ${metricsUrl}/metrics`);
}

/** A line to paste into a shell. Those of Windows differ in how they quote JSON, so it has none there. */
function firstCall(url: string, tokenFile: string | undefined, platform: string): string {
  if (platform === "win32") {
    return `fanal call getChainHead --url ${url}${tokenFile === undefined ? "" : ` --token-file "${tokenFile}"`}`;
  }
  const authorization = tokenFile === undefined ? "" : ` -H "Authorization: Bearer $(cat '${tokenFile}')"`;
  const body = '{"jsonrpc":"2.0","id":1,"method":"getChainHead","params":[]}';
  return `curl -s ${url}${authorization} -H 'Content-Type: application/json' -d '${body}'`;
}
