import type { UpstreamHealth } from "../../gateway/upstream-health.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import { limitConnections } from "../../node/servers/connection-limits.ts";
import { listenStartError } from "../../node/servers/listen-error.ts";
import { pageFiles } from "../../node/servers/page-files.ts";
import { VERSION } from "../../runtime/version.ts";
import type { GatewayCommandOptions } from "../flags/gateway/gateway-options.ts";
import type { RunningNode } from "../run.ts";
import { addressText } from "./banner.ts";
import { running } from "./running-node.ts";
import { announceServers, serverOptions } from "./servers.ts";

export interface GatewayStart extends GatewayCommandOptions {
  /** Gets the preset of the chain before anything is loaded that reads it. */
  environment: Record<string, string | undefined>;
}

/** `fanal gateway`: the interface of a node in front of others. */
export async function runGateway(
  start: GatewayStart,
  logger: Logger,
  _log: LogControl,
  stopping: AbortSignal,
): Promise<RunningNode> {
  const { gateway: options, workers, drainMillis, environment } = start;
  announceGateway(start, logger);
  const asked = await limitConnections({ servers: serverOptions(start, logger), networking: undefined }, logger);
  const { jsonRpc, rest, metrics, limits, writeAccess } = asked;
  const { fetchChainSpec } = await import("../../gateway/chain-spec.ts");
  const chainSpec = await fetchChainSpec(options.upstreams, stopping, logger);
  environment.LODESTAR_PRESET = chainSpec.presetBase;
  const { Gateway } = await import("../../gateway/gateway.ts");
  const gateway = await Gateway.open({
    options,
    chainSpec,
    servers: { limits, jsonRpc, rest, pages: jsonRpc?.page ? pageFiles() : undefined },
    metrics,
    writeAccessLog: writeAccess,
    workers,
    drainMillis,
    logger,
  }).catch((error: unknown) => {
    throw listenStartError(error, asked);
  });
  for (const health of gateway.health.all) announceUpstream(health, logger);
  announceServers(gateway, start, logger);
  return { ...running(gateway), drainMillis };
}

function announceGateway(start: GatewayStart, logger: Logger): void {
  const { gateway, workers, rpc, rpcAddress, rpcPort, rest, restAddress, restPort } = start;
  logger.notice(`Fanal ${VERSION} starts as a gateway`, {
    upstreams: gateway.upstreams.map(({ name }) => name),
    rpc: rpc ? addressText(rpcAddress, rpcPort) : "off",
    rest: rest ? addressText(restAddress, restPort) : "off",
    workers,
  });
}

/** Says what the gateway is in front of. */
function announceUpstream(
  { upstream, state, reasons, version, head, finalized }: UpstreamHealth,
  logger: Logger,
): void {
  const fields = { version, head: head?.slot, finalizedEpoch: finalized?.epoch };
  if (state === "ready") logger.notice(`The gateway is in front of ${upstream}`, fields);
  else logger.warn(`The upstream ${upstream} is ${state}`, { ...fields, reasons });
}
