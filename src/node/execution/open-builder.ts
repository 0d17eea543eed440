import type { BeaconConfig } from "@lodestar/config";
import { HttpBuilder } from "../../execution/builder/http-builder.ts";
import type { Logger } from "../../log/logger.ts";
import type { BuilderOptions } from "./builder-options.ts";

/** Creates the client of the external builder and checks its status in the background. */
export function openBuilder(
  { url, bidTimeoutMs, timers }: BuilderOptions,
  config: BeaconConfig,
  logger: Logger,
): HttpBuilder {
  const builder = new HttpBuilder({ url, config, bidTimeoutMs, timers, logger: logger.topic("chain") });
  // Not awaited: the node works without a builder.
  void builder.checkStatus();
  return builder;
}
