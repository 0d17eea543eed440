import type { Condition } from "../../gateway/condition.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import { withinDescriptors } from "../../node/descriptors.ts";
import { listenFailure } from "../../node/listen-failure.ts";
import { pageFiles } from "../../node/page-files.ts";
import { VERSION } from "../../runtime/version.ts";
import type { GatewayCommandOptions } from "../flags/gateway-options.ts";
import type { RunningNode } from "../run.ts";
import { addressText } from "./banner.ts";
import { running } from "./running.ts";
import { announceServers, serverOptions } from "./serving.ts";

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
  const asked = await withinDescriptors({ servers: serverOptions(start, logger), networking: undefined }, logger);
  const { jsonRpc, rest, metrics, limits, writeAccess } = asked;
  const { readFacts } = await import("../../gateway/read-facts.ts");
  const facts = await readFacts(options.upstreams, stopping, logger);
  environment.LODESTAR_PRESET = facts.presetBase;
  const { Gateway } = await import("../../gateway/gateway.ts");
  const gateway = await Gateway.open({
    options,
    facts,
    served: { limits, jsonRpc, rest, pages: jsonRpc?.page ? pageFiles() : undefined },
    metrics,
    writeAccess,
    workers,
    drainMillis,
    logger,
  }).catch((error: unknown) => {
    throw listenFailure(error, asked);
  });
  for (const condition of gateway.conditions.all) announceUpstream(condition, logger);
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
function announceUpstream({ upstream, fitness, reasons, version, head, finalized }: Condition, logger: Logger): void {
  const facts = { version, head: head?.slot, finalizedEpoch: finalized?.epoch };
  if (fitness === "ready") logger.notice(`The gateway is in front of ${upstream}`, facts);
  else logger.warn(`The upstream ${upstream} is ${fitness}`, { ...facts, reasons });
}
