import { resolve } from "node:path";
import type {
  CacheSettings,
  ClientSettings,
  GatewaySettings,
  MethodPolicySettings,
  UpstreamSettings,
} from "../../../gateway/settings.ts";
import type { Logger } from "../../../log/logger.ts";
import { StartupError, usageError } from "../../exit.ts";
import { readSecret } from "../../token-file.ts";
import type { ConfigProblems, SettingPath } from "../config-problems.ts";
import { didYouMean } from "../did-you-mean.ts";
import { changedFlags, type FlagValues, valuesOf } from "../flag.ts";
import { type LogSettings, logSettings } from "../log-flags.ts";
import { type FlagSources, readFlags } from "../resolve-flags.ts";
import { type PlainLimits, plainLimits } from "../server/limit-flags.ts";
import { type ServerSettings, serverSettings } from "../server/server-settings.ts";
import { SettingError } from "../setting-error.ts";
import { CACHE_SETTING_FLAGS, GATEWAY_FLAGS, GATEWAY_SETTING_FLAGS } from "./gateway-flags.ts";
import { type ParsedSections, readGatewaySections, type WrittenPattern } from "./gateway-sections.ts";
import { resolveNetworkPin } from "./network-pin-value.ts";
import type { ParsedUpstream } from "./upstream-value.ts";

/** Settings of `fanal gateway`. */
export interface GatewayCommandSettings {
  servers: ServerSettings & { limits: PlainLimits };
  log: LogSettings;
  gateway: GatewaySettings;
  /** Flag values. */
  values: GatewayValues;
  /** Method patterns from clients and policies. */
  patterns: readonly WrittenPattern[];
}

const NO_SECTIONS: ParsedSections = { upstreams: [], clients: [], policies: [], patterns: [] };

export type GatewayValues = FlagValues<typeof GATEWAY_FLAGS>;

/**
 * Reads flags, environment and config file. Reports all problems, in which case the settings are incomplete. Warns
 * about secret files that other users can read.
 */
export function gatewaySettings(
  sources: FlagSources,
  problems: ConfigProblems,
  logger?: Pick<Logger, "warn">,
): GatewayCommandSettings {
  const { workingDirectory } = sources;
  const values = readFlags("gateway", sources, problems);
  const { configFile, network } = values;
  const sections =
    configFile === undefined ? NO_SECTIONS : readGatewaySections(resolve(workingDirectory, configFile), problems);
  // Flags and environment variables take precedence over the file.
  const isListed = values.upstreams.length > 0;
  const upstreams = isListed ? values.upstreams : sections.upstreams;
  const clients = sections.clients.filter((client) => client !== undefined);
  problems.check(["upstream", "upstreams"], () => {
    if (upstreams.length > 0) return;
    if (configFile !== undefined) {
      problems.report(["upstreams"], "is missing; write it as in upstreams: [{ url: http://127.0.0.1:5052 }]");
      return;
    }
    throw usageError("Missing upstream. Give the REST API of a beacon node, as in --upstream http://127.0.0.1:5052.");
  });
  problems.check(["rpc", "rest"], () => {
    if (values.rpc || values.rest) return;
    throw new SettingError(
      "rpc",
      (nameOf) =>
        `${nameOf("rpc")} and ${nameOf("rest")} are both off, so that the gateway has no server. Turn one of them on`,
    );
  });
  for (const error of duplicateErrors(values.upstreams)) problems.reject(error);
  requireUpstreams(values, upstreams, problems);
  for (const policy of sections.policies) reportInfeasible(policy, upstreams, problems);
  const areKeysRequired = !problems.isValid(["clients"]) || clients.length > 0;
  const needsKeys = areKeysRequired && sections.clients.every((client, index) => mayHaveKey(client, index, problems));
  return {
    servers: {
      ...serverSettings(values, workingDirectory, { needsKeys, problems }),
      limits: plainLimits(values),
    },
    log: logSettings(values, workingDirectory),
    gateway: {
      ...valuesOf(GATEWAY_SETTING_FLAGS, values),
      upstreams: upstreams.flatMap((upstream, index) => {
        const attempt: Attempt = (key, run) =>
          problems.check([], run, isListed ? undefined : ["upstreams", index, ...key]);
        return upstream ? upstreamSettings(upstream, workingDirectory, { logger, attempt }) : [];
      }),
      network:
        network === undefined
          ? undefined
          : problems.check(["network"], () => resolveNetworkPin(network, workingDirectory)),
      cache: cacheSettings(values, workingDirectory, problems, logger),
      clients,
      policies: sections.policies,
    },
    values,
    patterns: sections.patterns,
  };
}

/** Returns false for a client that definitely has no key. */
function mayHaveKey(client: ClientSettings | undefined, index: number, problems: ConfigProblems): boolean {
  return client?.keyHash !== undefined || !problems.isValid(["clients", index, "key-sha256"]);
}

/** Throws a usage error if two upstreams have the same URL or name. */
export function requireDistinct(upstreams: readonly ParsedUpstream[]): void {
  for (const error of duplicateErrors(upstreams)) throw error;
}

function duplicateErrors(upstreams: readonly ParsedUpstream[]): StartupError[] {
  return upstreams.flatMap(({ url, name }, position) => {
    const before = upstreams.slice(0, position);
    if (before.some((other) => other.url === url)) return usageError(`The upstream ${name} is given twice.`);
    if (!before.some((other) => other.name === name)) return [];
    return usageError(`Two upstreams have the name ${name}. Rename one of them, as in "URL name=second".`);
  });
}

/**
 * Reports a quorum or broadcast that requires more upstreams than are configured. Invalid upstreams count as
 * configured.
 */
function requireUpstreams(
  values: GatewayValues,
  upstreams: readonly (ParsedUpstream | undefined)[],
  problems: ConfigProblems,
): void {
  const { length } = upstreams;
  if (length === 0) return;
  for (const name of ["quorum", "broadcast"] as const) {
    const count = values[name];
    problems.check([name, "upstream"], () => {
      if (count === "all" || count <= length) return;
      const problem = `${count} exceeds the number of upstreams, ${length}; lower it or add upstreams`;
      throw new SettingError(name, (nameOf) => `${nameOf(name)} ${problem}`);
    });
  }
}

/**
 * Reports a policy for which there are too few matching upstreams. Upstreams with invalid tags count towards every
 * policy.
 */
function reportInfeasible(
  { pattern, tags, quorum = 1 }: MethodPolicySettings,
  upstreams: readonly (ParsedUpstream | undefined)[],
  problems: ConfigProblems,
): void {
  const path = ["methods", pattern];
  if (upstreams.length === 0 || !problems.isValid(["upstream"]) || !problems.isValid([...path, "tags"])) return;
  const hasTag = (upstream: ParsedUpstream | undefined, index: number) =>
    tags === undefined ||
    upstream?.tags?.some((tag) => tags.includes(tag)) ||
    !problems.isValid(["upstreams", index, "tags"]);
  const { length } = upstreams.filter(hasTag);
  const tagText = tags?.join(" or ");
  if (length === 0 && tagText !== undefined) {
    const known = upstreams.flatMap((upstream) => upstream?.tags ?? []);
    const hint = tags?.length === 1 ? didYouMean(tagText, known) : "";
    const fix =
      hint === ""
        ? `; add it to an upstream, as in { url: …, tags: [${tags?.[0]}] }`
        : `;${hint.replace("Did", "did")}`;
    problems.report([...path, "tags"], `selects no upstream: none has the tag ${tagText}${fix}`);
  } else if (length < quorum && problems.isValid([...path, "quorum"])) {
    const which = tagText === undefined ? "upstreams" : `upstreams with the tag ${tagText}`;
    const problem = `must be at most the number of ${which}, ${length}, got ${quorum}; lower it or add upstreams`;
    problems.report([...path, "quorum"], problem);
  }
}

/** Reads a secret file referenced by an upstream's key. Returns undefined on failure. */
type Attempt = (key: SettingPath, read: () => string) => string | undefined;

interface UpstreamContext {
  logger?: Pick<Logger, "warn"> | undefined;
  /** Handles errors. By default, errors are thrown. */
  attempt?: Attempt;
}

/** Converts a parsed upstream to settings. Reads the upstream's secret files. */
export function upstreamSettings(
  { tokenFile, headerFiles = {}, ...written }: ParsedUpstream,
  workingDirectory: string,
  { logger, attempt = (_key, read) => read() }: UpstreamContext = {},
): UpstreamSettings {
  const readToken = (name: string) => {
    const file = resolve(workingDirectory, name);
    const token = readSecret(file, "token file", logger);
    if (/^[\x21-\x7e]+$/.test(token)) return token;
    throw new StartupError("unreadableInput", `The token file ${file} must hold a single token.`);
  };
  const fromFiles = Object.entries(headerFiles).map(([name, file]) => [
    name,
    attempt(["header-files", name], () => readToken(file)),
  ]);
  const token = tokenFile === undefined ? undefined : attempt(["token-file"], () => readToken(tokenFile));
  return {
    ...written,
    ...(fromFiles.length > 0 && { headers: { ...written.headers, ...Object.fromEntries(fromFiles) } }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

function cacheSettings(
  values: GatewayValues,
  workingDirectory: string,
  problems: ConfigProblems,
  logger: Pick<Logger, "warn"> | undefined,
): CacheSettings | undefined {
  if (values.cache === undefined) {
    const { cachePasswordFile } = GATEWAY_FLAGS;
    for (const name of changedFlags({ cachePasswordFile, ...CACHE_SETTING_FLAGS }, values)) {
      problems.check(["cache"], () => {
        throw new SettingError(
          name,
          (nameOf) => `${nameOf(name)} requires ${nameOf("cache")}, the URL of Redis or Valkey`,
        );
      });
    }
    return undefined;
  }
  const { cachePasswordFile } = values;
  const url = new URL(values.cache);
  if (cachePasswordFile !== undefined) {
    problems.check([], () => {
      if (url.password !== "") {
        throw new SettingError(
          "cache-password-file",
          (nameOf) =>
            `${nameOf("cache-password-file")} and a password in ${nameOf("cache")} are mutually exclusive. Remove one of them`,
        );
      }
      const file = resolve(workingDirectory, cachePasswordFile);
      url.password = encodeURIComponent(readSecret(file, "password file", logger));
    });
  }
  return { url: url.href, ...valuesOf(CACHE_SETTING_FLAGS, values) };
}
