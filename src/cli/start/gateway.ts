import { describeNetwork } from "../../gateway/network/network-pin.ts";
import { HEALTH_LOG_MESSAGES, type UpstreamHealth } from "../../gateway/upstream/upstream-health.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import { limitConnections } from "../../node/servers/connection-limits.ts";
import { listenStartError } from "../../node/servers/listen-error.ts";
import { pageFiles } from "../../node/servers/page/page-files.ts";
import { VERSION } from "../../runtime/version.ts";
import type { GatewayCommandSettings } from "../flags/gateway/gateway-settings.ts";
import { requireKnownMethods } from "../gateway/check.ts";
import { ConfigReloader } from "../gateway/reload.ts";
import type { RunningNode } from "../run.ts";
import { serverAddresses } from "./banner.ts";
import { running } from "./running-node.ts";
import { announceServers, serverOptions } from "./servers.ts";

export interface GatewayStart extends GatewayCommandSettings {
  /** Receives the chain's preset before the consensus libraries are loaded. */
  environment: Record<string, string | undefined>;
  /** Absolute path of the config file, if any. */
  configFile?: string | undefined;
  /** Rereads the settings. */
  readSettings(): Promise<GatewayCommandSettings>;
}

/** Runs `fanal gateway`: the API servers of a node as a proxy for other beacon nodes. */
export async function runGateway(
  start: GatewayStart,
  logger: Logger,
  _log: LogControl,
  stopping: AbortSignal,
): Promise<RunningNode> {
  const { gateway: settings, environment } = start;
  const { upstreams, workers, drainMillis } = settings;
  logger.notice("Starting Fanal gateway", {
    version: VERSION,
    upstreams: upstreams.map(({ name }) => name),
    ...serverAddresses(start.servers),
    workers,
  });
  const listeners = await limitConnections({ servers: serverOptions(start, logger), networking: undefined }, logger);
  const { jsonRpc, rest, metrics, limits, writeAccess } = listeners;
  const { fetchChainSpec } = await import("../../gateway/network/chain-spec.ts");
  const chainSpec = await fetchChainSpec(settings, stopping, logger);
  logger.info("Serving network", { network: settings.network?.name ?? describeNetwork(chainSpec) });
  environment.LODESTAR_PRESET = chainSpec.presetBase;
  await requireKnownMethods(start);
  const { Gateway } = await import("../../gateway/gateway.ts");
  const gateway = await Gateway.open({
    settings,
    chainSpec,
    servers: { limits, jsonRpc, rest, pages: jsonRpc?.page ? await pageFiles() : undefined },
    metrics,
    writeAccessLog: writeAccess,
    logger,
  }).catch((error: unknown) => {
    throw listenStartError(error, listeners);
  });
  for (const health of gateway.health.all) announceUpstream(health, logger);
  announceServers(gateway, start.servers, logger);
  const { configFile } = start;
  if (configFile === undefined) return { ...running(gateway), drainMillis };
  const reloader = new ConfigReloader({
    file: configFile,
    started: start,
    read: () => start.readSettings(),
    apply: (changed) => gateway.reload(changed),
    logger,
  });
  const node = running({
    onFailure: (callback) => gateway.onFailure(callback),
    close() {
      reloader.close();
      return gateway.close();
    },
  });
  return { ...node, drainMillis, reload: () => reloader.reload() };
}

/** Logs the state of an upstream at startup. */
function announceUpstream(
  { upstream, state, reasons, version, head, finalized }: UpstreamHealth,
  logger: Logger,
): void {
  const fields = { upstream, version, head: head?.slot, finalizedEpoch: finalized?.epoch };
  if (state === "ready") logger.notice(HEALTH_LOG_MESSAGES.ready, fields);
  else logger[state === "foreign" ? "error" : "warn"](HEALTH_LOG_MESSAGES[state], { ...fields, reasons });
}
