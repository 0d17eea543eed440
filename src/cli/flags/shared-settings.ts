import type { ServerLimits } from "../../node/servers/server-limits.ts";
import { monitorSelection } from "./chain/monitored-validators.ts";
import { builderSettings } from "./execution/builder-flags.ts";
import type { FlagValues } from "./flag.ts";
import { type LogSettings, logSettings } from "./log-flags.ts";
import { serverLimits } from "./server/limit-flags.ts";
import { type ServerSettings, serverSettings } from "./server/server-settings.ts";
import type { SHARED_FLAGS } from "./shared-flags.ts";

/** Settings for the process of a node. */
export interface ProcessSettings {
  servers: ServerSettings & { limits: ServerLimits };
  log: LogSettings;
  trackFutures: boolean;
}

/** Converts the flags whose defaults are the same for every command. */
export function sharedSettings(values: FlagValues<typeof SHARED_FLAGS>, workingDirectory: string) {
  const { trackFutures, kzgBackend } = values;
  return {
    servers: { ...serverSettings(values, workingDirectory), limits: serverLimits(values) },
    log: logSettings(values, workingDirectory),
    trackFutures,
    kzgBackend,
    monitorValidators: monitorSelection(values.monitorValidators),
    builder: builderSettings(values),
    eth1: [...new Set(values.eth1)],
  };
}
