import type { BeaconConfig } from "@lodestar/config";
import type { Timers } from "../../async/timers.ts";
import type { BuilderSettings } from "../../chain/production/builder-settings.ts";
import { HttpBuilder } from "../../execution/builder/http-builder.ts";
import type { Logger } from "../../log/logger.ts";

/** Creates the client for the external builder and checks its status in the background. */
export function openBuilder(
  { url, bidTimeoutMs }: BuilderSettings,
  config: BeaconConfig,
  logger: Logger,
  timers?: Pick<Timers, "sleep" | "unixNow">,
): HttpBuilder {
  const builder = new HttpBuilder({ url, config, bidTimeoutMs, timers, logger: logger.topic("chain") });
  // Not awaited: the node works without a builder.
  void builder.checkStatus();
  return builder;
}
