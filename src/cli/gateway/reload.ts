import { unwatchFile, watchFile } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { GatewaySettings } from "../../gateway/settings.ts";
import type { Logger } from "../../log/logger.ts";
import { GATEWAY_FLAGS } from "../flags/gateway/gateway-flags.ts";
import type { GatewayCommandSettings } from "../flags/gateway/gateway-settings.ts";
import { asStartupError } from "../start/start-errors.ts";

/**
 * Interval at which the config file is polled for changes, which also works with symbolic links and network file
 * systems.
 */
const WATCH_INTERVAL_MILLIS = 2000;

const SETTINGS = ["gateway", "servers", "log"] as const satisfies readonly (keyof GatewayCommandSettings)[];

/** Gateway settings that a reload does not change. */
const FIXED_SETTINGS = [
  "network",
  "cache",
  "workers",
  "drainMillis",
  "maxSlotsBehind",
] as const satisfies readonly (keyof GatewaySettings)[];

/** Config file keys that a reload applies, by setting. */
const APPLIED_KEYS = {
  upstreams: "upstreams",
  clients: "clients",
  policies: "methods",
  quorum: GATEWAY_FLAGS.quorum.name,
  broadcast: GATEWAY_FLAGS.broadcast.name,
  hedgeDelayMillis: GATEWAY_FLAGS.hedgeDelayMillis.name,
  validation: GATEWAY_FLAGS.validation.name,
  memoryBytes: GATEWAY_FLAGS.memoryBytes.name,
} satisfies Record<Exclude<keyof GatewaySettings, (typeof FIXED_SETTINGS)[number]>, string>;

interface ConfigReloaderOptions {
  /** Absolute path of the config file. */
  file: string;
  /** Settings at startup. */
  started: GatewayCommandSettings;
  /** Rereads flags, environment and config file. */
  read(): Promise<GatewayCommandSettings>;
  /** Applies changed settings. */
  apply(settings: GatewaySettings): Promise<void>;
  logger: Logger;
}

/** Applies config file changes while the gateway runs. An invalid file is rejected. */
export class ConfigReloader {
  readonly #options: ConfigReloaderOptions;
  readonly #onChange = () => this.#enqueue(false);
  /** Settings from the last valid file. */
  #current: GatewayCommandSettings;
  /** The reason why the current file content is rejected. Logged once, unless a reload is requested. */
  #rejection: string | undefined;
  /** The most recent reload. Reloads run sequentially. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: ConfigReloaderOptions) {
    this.#options = options;
    this.#current = options.started;
    watchFile(options.file, { interval: WATCH_INTERVAL_MILLIS, persistent: false }, this.#onChange);
    // The file may have changed during startup.
    this.#enqueue(false);
  }

  /** Reloads on request. Logs the reload even if nothing has changed. */
  reload(): void {
    this.#enqueue(true);
  }

  close(): void {
    unwatchFile(this.#options.file, this.#onChange);
  }

  #enqueue(isRequested: boolean): void {
    this.#last = this.#last.then(() => this.#reload(isRequested));
  }

  /** Never rejects. Unchanged settings are not applied again, since that would empty the in-memory cache. */
  async #reload(isRequested: boolean): Promise<void> {
    const { file, started, read, apply, logger } = this.#options;
    try {
      const changed = await read();
      this.#rejection = undefined;
      const fixed = Object.fromEntries(FIXED_SETTINGS.map((key) => [key, started.gateway[key]]));
      const isSame = SETTINGS.every((key) => isDeepStrictEqual(changed[key], this.#current[key]));
      if (isSame && !isRequested) return;
      if (!isSame) await apply({ ...changed.gateway, ...fixed });
      const before = this.#current.gateway;
      this.#current = changed;
      const names = Object.keys(APPLIED_KEYS) as (keyof typeof APPLIED_KEYS)[];
      const { upstreams, clients, policies } = changed.gateway;
      logger.notice("Config file reloaded", {
        file,
        changed: names.flatMap((name) =>
          isDeepStrictEqual(changed.gateway[name], before[name]) ? [] : APPLIED_KEYS[name],
        ),
        upstreams: upstreams.map(({ name }) => name),
        clients: clients.length,
        policies: policies.length,
      });
      const ignored = ignoredChanges(started, changed);
      if (ignored.length > 0) logger.warn("Config change needs a restart", { settings: ignored });
    } catch (error) {
      const { message } = asStartupError(error) ?? (error as Error);
      if (message === this.#rejection && !isRequested) return;
      this.#rejection = message;
      logger.error("Config file rejected, keeping the previous settings", { file, error: message });
    }
  }
}

/** Returns the changed config file keys that a reload does not apply. */
function ignoredChanges(started: GatewayCommandSettings, changed: GatewayCommandSettings): string[] {
  const isChanged = (setting: (typeof FIXED_SETTINGS)[number]) =>
    !isDeepStrictEqual(started.gateway[setting], changed.gateway[setting]);
  const isSame = (["servers", "log"] as const).every((key) => isDeepStrictEqual(started[key], changed[key]));
  if (isSame && !FIXED_SETTINGS.some(isChanged)) return [];
  const flags = (Object.keys(GATEWAY_FLAGS) as (keyof typeof GATEWAY_FLAGS)[]).filter(
    (key) => !(key in APPLIED_KEYS) && !isDeepStrictEqual(started.values[key], changed.values[key]),
  );
  const names = new Set<string>(flags.map((key) => GATEWAY_FLAGS[key].name));
  // The files' contents may have changed as well.
  if (isChanged("network")) names.add(GATEWAY_FLAGS.network.name);
  const isOtherCache = flags.some((key) => key === "cache" || key === "prefix" || key === "ttlSeconds");
  if (isChanged("cache") && !isOtherCache) names.add(GATEWAY_FLAGS.cachePasswordFile.name);
  return [...names];
}
