import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { CacheOptions, GatewayOptions, UpstreamOptions } from "../../gateway/options.ts";
import type { Logger } from "../../log/logger.ts";
import { StartupError, usageError } from "../exit.ts";
import { readSecret } from "../token-file.ts";
import type { FlagValues } from "./flag.ts";
import { GATEWAY_FLAGS } from "./gateway-flags.ts";
import { type PlainLimits, plainLimits } from "./limit-flags.ts";
import { type LogOptions, logOptions, type ServerSettings, serverSettings } from "./options.ts";
import type { WrittenUpstream } from "./upstream-value.ts";

export interface GatewayCommandOptions extends ServerSettings, LogOptions {
  limits: PlainLimits;
  gateway: GatewayOptions;
  /** How many processes serve; with one, this one does. */
  workers: number;
  /** How long everything goes on to be served, but for readiness, once the gateway is told to stop. */
  drainMillis: number;
}

type GatewayValues = FlagValues<typeof GATEWAY_FLAGS>;

/** The log is told of secret files that other users can read. */
export function gatewayOptions(
  values: GatewayValues,
  workingDirectory: string,
  logger?: Pick<Logger, "warn">,
): GatewayCommandOptions {
  const { upstreams, quorum, broadcast, hedgeAfter, maxSlotsBehind, memory, workers } = values;
  if (upstreams.length === 0) {
    throw usageError(
      "A gateway needs a beacon node to pass calls on to: give its REST API, as in --upstream http://127.0.0.1:5052.",
    );
  }
  if (!values.rpc && !values.rest) {
    throw usageError("A gateway without JSON-RPC and without REST serves nobody: leave out --no-rpc or --no-rest.");
  }
  requireDistinct(upstreams);
  requireAtMost("quorum", quorum, upstreams.length);
  if (broadcast !== "all") requireAtMost("broadcast", broadcast, upstreams.length);
  return {
    ...serverSettings(values, workingDirectory),
    ...logOptions(values, workingDirectory),
    limits: plainLimits(values),
    gateway: {
      upstreams: upstreams.map((written) => upstreamOptions(written, workingDirectory, logger)),
      quorum,
      broadcast,
      memoryBytes: memory * 1024 * 1024,
      cache: cacheOptions(values, workingDirectory, logger),
      maxSlotsBehind,
      hedgeDelayMillis: hedgeAfter,
    },
    workers: workers === "all" ? availableParallelism() : workers,
    drainMillis: values.drainSeconds * 1000,
  };
}

export function requireDistinct(upstreams: readonly WrittenUpstream[]): void {
  for (const [position, { url, name }] of upstreams.entries()) {
    const before = upstreams.slice(0, position);
    if (before.some((other) => other.url === url)) throw usageError(`The upstream ${name} is given twice.`);
    if (before.some((other) => other.name === name)) {
      throw usageError(`Two upstreams are called ${name}: give one of them another name, as in "URL name=second".`);
    }
  }
}

function requireAtMost(flag: "quorum" | "broadcast", count: number, upstreams: number): void {
  if (count <= upstreams) return;
  const given = upstreams === 1 ? "there is only one" : `there are only ${upstreams}`;
  throw usageError(`--${flag} ${count} needs as many upstreams, and ${given}.`);
}

export function upstreamOptions(
  { tokenFile, ...written }: WrittenUpstream,
  workingDirectory: string,
  logger?: Pick<Logger, "warn">,
): UpstreamOptions {
  if (tokenFile === undefined) return written;
  const file = resolve(workingDirectory, tokenFile);
  const token = readSecret(file, "token file", logger);
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new StartupError("unreadableInput", `The token file ${file} must hold one word, and nothing else.`);
  }
  return { ...written, authorization: `Bearer ${token}` };
}

const CACHE_SETTINGS = ["cachePasswordFile", "cachePrefix", "cacheSeconds"] as const;

function cacheOptions(
  values: GatewayValues,
  workingDirectory: string,
  logger: Pick<Logger, "warn"> | undefined,
): CacheOptions | undefined {
  if (values.cache === undefined) {
    const needless = CACHE_SETTINGS.find((key) => values[key] !== GATEWAY_FLAGS[key].fallback);
    if (needless === undefined) return undefined;
    throw usageError(`--${GATEWAY_FLAGS[needless].name} is of no use without --cache, the URL of a Redis or Valkey.`);
  }
  const url = new URL(values.cache);
  if (values.cachePasswordFile !== undefined) {
    if (url.password !== "")
      throw usageError("--cache has a password, so that --cache-password-file must not be given.");
    const file = resolve(workingDirectory, values.cachePasswordFile);
    url.password = encodeURIComponent(readSecret(file, "password file", logger));
  }
  return { url: url.href, prefix: values.cachePrefix, ttlSeconds: values.cacheSeconds };
}
