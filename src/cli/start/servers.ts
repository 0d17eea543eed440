import { openAccessLog } from "../../log/access-log-writer.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogFile } from "../../log/rotating-file.ts";
import type { ApiOptions, Servers, ServersOptions } from "../../node/servers/servers.ts";
import { usageError } from "../exit.ts";
import type { LogSettings } from "../flags/log-flags.ts";
import type { AccessSettings, ServerSettings } from "../flags/server/server-settings.ts";
import { openToken } from "../token-file.ts";

interface ServedSettings<Limits> {
  servers: ServerSettings & { limits: Limits };
  log: Pick<LogSettings, "accessLog">;
}

/**
 * Reads the token files and opens the access log. The servers of a dev chain accept requests from web pages on this
 * machine, except for the signer, which no page needs.
 */
export function serverOptions<Limits>(
  { servers, log }: ServedSettings<Limits>,
  logger: Logger,
  { allowsLocalPages = false } = {},
): Omit<ServersOptions, "limits"> & { limits: Limits } {
  const { jsonRpc, ethRpc, rest, signer, ...others } = servers;
  const accessOf = (settings: AccessSettings) => ({ ...withToken(settings, logger), allowsLocalPages });
  return {
    ...others,
    jsonRpc: jsonRpc && { ...jsonRpc, access: accessOf(jsonRpc.access) },
    ethRpc: ethRpc && { ...ethRpc, access: accessOf(ethRpc.access) },
    rest: rest && { ...rest, access: accessOf(rest.access) },
    signer: signer && { ...signer, access: withToken(signer.access, logger) },
    writeAccess: log.accessLog && accessLogWriter(log.accessLog, logger),
  };
}

function accessLogWriter(where: NonNullable<LogSettings["accessLog"]>, logger: Logger): (lines: string) => void {
  try {
    const writer = openAccessLog(where, logger);
    return (lines) => writer.write(lines);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`The access log ${(where as LogFile).path} cannot be written: ${reason}.`, error);
  }
}

function withToken({ tokenFile, ...access }: AccessSettings, logger: Logger): ApiOptions["access"] {
  return { ...access, token: tokenFile === undefined ? undefined : openToken(tokenFile, logger) };
}

type AnnouncedServers = Pick<Servers, "jsonRpcUrl" | "restUrl" | "metricsUrl"> &
  Partial<Pick<Servers, "ethRpcUrl" | "signerUrl">>;

/** Logs the URLs of the servers and an example call, or how to enable the servers. */
export function announceServers(
  { jsonRpcUrl, ethRpcUrl, restUrl, signerUrl, metricsUrl }: AnnouncedServers,
  { jsonRpc }: Pick<ServerSettings, "jsonRpc">,
  logger: Logger,
  platform: string = process.platform,
): void {
  if (jsonRpcUrl === undefined) {
    logger.info("JSON-RPC server is off, enable it with --rpc");
  } else {
    logger.notice(`JSON-RPC is served at ${jsonRpcUrl}`);
    const target = { url: jsonRpcUrl, tokenFile: jsonRpc?.access.tokenFile };
    logger.notice(`Try: ${exampleCall("getChainHead", [], target, platform)}`);
    if (jsonRpc?.page) logger.notice(`Explorer: ${jsonRpcUrl}`);
  }
  if (ethRpcUrl !== undefined) logger.notice(`Ethereum RPC is served at ${ethRpcUrl}`);
  if (restUrl === undefined) logger.info("REST server is off, enable it with --rest");
  else logger.notice(`REST is served at ${restUrl}`);
  if (signerUrl !== undefined) logger.notice(`Web3Signer API is served at ${signerUrl}`);
  if (metricsUrl !== undefined) logger.notice(`Metrics are served at ${metricsUrl}/metrics`);
}

/** A JSON-RPC server and its token file, if it requires a token. */
interface CallTarget {
  url: string;
  tokenFile: string | undefined;
}

/**
 * Returns an example call to paste into a shell. On Windows, the call contains no JSON, since quoting differs between
 * shells.
 */
export function exampleCall(
  method: string,
  params: readonly string[],
  { url, tokenFile }: CallTarget,
  platform: string = process.platform,
): string {
  if (platform === "win32") {
    const token = tokenFile === undefined ? "" : ` --token-file "${tokenFile}"`;
    return [`fanal call ${method}`, ...params, `--url ${url}${token}`].join(" ");
  }
  const authorization = tokenFile === undefined ? "" : ` -H "Authorization: Bearer $(cat '${tokenFile}')"`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return `curl -s ${url}${authorization} -H 'Content-Type: application/json' -d '${body}'`;
}
