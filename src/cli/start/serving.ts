import type { Logger } from "../../log/logger.ts";
import type { Servers, ServersOptions } from "../../node/servers.ts";
import type { SharedOptions } from "../flags/options.ts";

/** The servers that the flags ask for. */
export function serverOptions(options: SharedOptions): ServersOptions {
  const { rpc, rpcAddress, rpcPort, rest, restAddress, restPort, restAllowOrigin, limits } = options;
  return {
    limits,
    ...(rpc && { jsonRpc: { host: rpcAddress, port: rpcPort } }),
    ...(rest && { rest: { host: restAddress, port: restPort, allowedOrigins: restAllowOrigin } }),
  };
}

/** Says where the servers are and how they are used, or how they are turned on. */
export function announceServers({ jsonRpcUrl, restUrl }: Servers, logger: Logger): void {
  if (jsonRpcUrl === undefined) {
    logger.info("The JSON-RPC server is off; --rpc turns it on");
  } else {
    logger.notice(`JSON-RPC is served at ${jsonRpcUrl}`);
    logger.notice(
      `Try: curl -s ${jsonRpcUrl} -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"getChainHead","params":[]}'`,
    );
  }
  if (restUrl === undefined) logger.info("The REST server is off; --rest turns it on");
  else logger.notice(`REST is served at ${restUrl}`);
}
