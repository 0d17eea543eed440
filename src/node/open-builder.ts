import type { BeaconConfig } from "@lodestar/config";
import { HttpBuilder } from "../execution/builder/http-builder.ts";
import type { Logger } from "../log/logger.ts";
import type { BuilderOptions } from "./builder-options.ts";

export function openBuilder(
  { url, bidTimeoutMs, timers }: BuilderOptions,
  config: BeaconConfig,
  logger: Logger,
): HttpBuilder {
  const builder = new HttpBuilder({ url, config, bidTimeoutMs, timers, logger: logger.topic("chain") });
  // The node does not wait for it: without the builder it works as well.
  void builder.checkStatus();
  return builder;
}
