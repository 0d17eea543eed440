import { resolve } from "node:path";
import type {
  CacheSettings,
  GatewaySettings,
  MethodPolicySettings,
  UpstreamSettings,
} from "../../../gateway/settings.ts";
import type { Logger } from "../../../log/logger.ts";
import { StartupError, usageError } from "../../exit.ts";
import { readSecret } from "../../token-file.ts";
import { changedFlag, type FlagValues, valuesOf } from "../flag.ts";
import { type LogSettings, logSettings } from "../log-flags.ts";
import { type PlainLimits, plainLimits } from "../server/limit-flags.ts";
import { type ServerSettings, serverSettings } from "../server/server-settings.ts";
import { CACHE_SETTING_FLAGS, GATEWAY_FLAGS, GATEWAY_SETTING_FLAGS } from "./gateway-flags.ts";
import { type ParsedSections, readGatewaySections } from "./gateway-sections.ts";
import { resolveNetworkPin } from "./network-pin-value.ts";
import type { ParsedUpstream } from "./upstream-value.ts";

/** Settings of `fanal gateway`. */
export interface GatewayCommandSettings {
  servers: ServerSettings & { limits: PlainLimits };
  log: LogSettings;
  gateway: GatewaySettings;
}

const NO_SECTIONS: ParsedSections = { upstreams: [], clients: [], policies: [] };

type GatewayValues = FlagValues<typeof GATEWAY_FLAGS>;

/** Converts flags to settings. Warns of secret files that other users can read. */
export function gatewaySettings(
  values: GatewayValues,
  workingDirectory: string,
  logger?: Pick<Logger, "warn">,
): GatewayCommandSettings {
  const { quorum, broadcast, configFile } = values;
  const sections: ParsedSections =
    configFile === undefined ? NO_SECTIONS : readGatewaySections(resolve(workingDirectory, configFile));
  // Flags and variables take precedence over the file.
  const upstreams = values.upstreams.length > 0 ? values.upstreams : sections.upstreams;
  const { clients, policies } = sections;
  if (upstreams.length === 0) {
    throw usageError("Missing upstream. Give the REST API of a beacon node, as in --upstream http://127.0.0.1:5052.");
  }
  if (!values.rpc && !values.rest) {
    throw usageError("The gateway has no server. Remove --no-rpc or --no-rest.");
  }
  requireDistinct(upstreams);
  requireAtMost("quorum", quorum, upstreams.length);
  if (broadcast !== "all") requireAtMost("broadcast", broadcast, upstreams.length);
  for (const policy of policies) requireFeasible(policy, upstreams);
  const needsKeys = clients.length > 0 && clients.every(({ keyHash }) => keyHash !== undefined);
  return {
    servers: { ...serverSettings(values, workingDirectory, { needsKeys }), limits: plainLimits(values) },
    log: logSettings(values, workingDirectory),
    gateway: {
      ...valuesOf(GATEWAY_SETTING_FLAGS, values),
      upstreams: upstreams.map((written) => upstreamSettings(written, workingDirectory, logger)),
      network: values.network === undefined ? undefined : resolveNetworkPin(values.network, workingDirectory),
      cache: cacheSettings(values, workingDirectory, logger),
      clients,
      policies,
    },
  };
}

/** Throws a usage error if two upstreams have the same URL or name. */
export function requireDistinct(upstreams: readonly ParsedUpstream[]): void {
  for (const [position, { url, name }] of upstreams.entries()) {
    const before = upstreams.slice(0, position);
    if (before.some((other) => other.url === url)) throw usageError(`The upstream ${name} is given twice.`);
    if (before.some((other) => other.name === name)) {
      throw usageError(`Two upstreams have the name ${name}. Rename one of them, as in "URL name=second".`);
    }
  }
}

function requireAtMost(flag: "quorum" | "broadcast", count: number, upstreams: number): void {
  if (count <= upstreams) return;
  throw usageError(`--${flag} ${count} exceeds the number of upstreams, ${upstreams}.`);
}

/** Throws a usage error if too few upstreams have the tags of a policy. */
function requireFeasible(
  { pattern, tags, quorum = 1 }: MethodPolicySettings,
  upstreams: readonly ParsedUpstream[],
): void {
  const eligible = tags ? upstreams.filter((upstream) => upstream.tags?.some((tag) => tags.includes(tag))) : upstreams;
  if (eligible.length >= quorum) return;
  const which = tags ? `upstreams with the tag ${tags.join(" or ")}` : "upstreams";
  throw usageError(
    `The policy "${pattern}" needs at least ${quorum} of the ${which}, and there are ${eligible.length}.`,
  );
}

/** Converts a parsed upstream to settings. Reads its secret files. */
export function upstreamSettings(
  { tokenFile, headerFiles = {}, ...written }: ParsedUpstream,
  workingDirectory: string,
  logger?: Pick<Logger, "warn">,
): UpstreamSettings {
  const readToken = (name: string) => {
    const file = resolve(workingDirectory, name);
    const token = readSecret(file, "token file", logger);
    if (/^[\x21-\x7e]+$/.test(token)) return token;
    throw new StartupError("unreadableInput", `The token file ${file} must hold a single token.`);
  };
  const fromFiles = Object.entries(headerFiles).map(([name, file]) => [name, readToken(file)]);
  return {
    ...written,
    ...(fromFiles.length > 0 && { headers: { ...written.headers, ...Object.fromEntries(fromFiles) } }),
    ...(tokenFile !== undefined && { authorization: `Bearer ${readToken(tokenFile)}` }),
  };
}

function cacheSettings(
  values: GatewayValues,
  workingDirectory: string,
  logger: Pick<Logger, "warn"> | undefined,
): CacheSettings | undefined {
  if (values.cache === undefined) {
    const { cachePasswordFile } = GATEWAY_FLAGS;
    const unused = changedFlag({ cachePasswordFile, ...CACHE_SETTING_FLAGS }, values);
    if (unused === undefined) return undefined;
    throw usageError(`--${unused} requires --cache, the URL of Redis or Valkey.`);
  }
  const url = new URL(values.cache);
  if (values.cachePasswordFile !== undefined) {
    if (url.password !== "")
      throw usageError("--cache-password-file and a password in --cache are mutually exclusive.");
    const file = resolve(workingDirectory, values.cachePasswordFile);
    url.password = encodeURIComponent(readSecret(file, "password file", logger));
  }
  return { url: url.href, ...valuesOf(CACHE_SETTING_FLAGS, values) };
}
