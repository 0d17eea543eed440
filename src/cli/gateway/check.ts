import { methodMatcher } from "../../gateway/policies/method-patterns.ts";
import type { Logger } from "../../log/logger.ts";
import { ConfigProblems } from "../flags/config-problems.ts";
import { didYouMean } from "../flags/did-you-mean.ts";
import type { WrittenPattern } from "../flags/gateway/gateway-sections.ts";
import { type GatewayCommandSettings, gatewaySettings } from "../flags/gateway/gateway-settings.ts";
import type { FlagSources } from "../flags/resolve-flags.ts";
import { CONFIG_FILE_FLAG } from "../flags/shared-flags.ts";

/**
 * Validates a config file the way `fanal gateway` does at startup. Returns a summary, or throws a usage error if the
 * file is invalid.
 */
export async function checkGatewayFile(file: string, sources: FlagSources): Promise<string> {
  const flagTexts = new Map(sources.flagTexts).set(CONFIG_FILE_FLAG.name, [file]);
  const { gateway } = await loadGatewaySettings({ ...sources, flagTexts });
  const { upstreams, clients, policies } = gateway;
  const counts = [
    count(upstreams.length, "upstream", "upstreams"),
    count(clients.length, "client", "clients"),
    count(policies.length, "method policy", "method policies"),
  ];
  return `${file} is valid: ${counts.join(", ")}\n`;
}

interface LoadOptions {
  /** Receives warnings about secret files. */
  logger?: Pick<Logger, "warn">;
  /**
   * True if the preset of the upstreams is not known yet. Method definitions depend on the preset, so method names are
   * checked here only if there are other problems. Otherwise, `requireKnownMethods` checks the names later.
   */
  isPresetUnknown?: boolean;
}

/** Reads a gateway's settings. Throws a single error that lists all problems. */
export async function loadGatewaySettings(
  sources: FlagSources,
  { logger, isPresetUnknown = false }: LoadOptions = {},
): Promise<GatewayCommandSettings> {
  const problems = new ConfigProblems();
  const settings = gatewaySettings(sources, problems, logger);
  if (!isPresetUnknown || !problems.isEmpty) await reportUnknownMethods(settings.patterns, problems);
  problems.throwIfAny();
  return settings;
}

/** Throws an error listing the patterns that match no method. Loads the method definitions. */
export async function requireKnownMethods({ patterns, values }: GatewayCommandSettings): Promise<void> {
  const problems = new ConfigProblems();
  problems.setFile(values.configFile ?? "", {});
  await reportUnknownMethods(patterns, problems);
  problems.throwIfAny();
}

async function reportUnknownMethods(patterns: readonly WrittenPattern[], problems: ConfigProblems): Promise<void> {
  if (patterns.length === 0) return;
  const { methods } = await import("../../api/method-groups.ts");
  const names = methods.flatMap(({ name, aliases }) => [name, ...aliases]);
  for (const { pattern, path } of patterns) {
    if (methods.some(methodMatcher(pattern))) continue;
    const hint = pattern.includes("*") ? "" : didYouMean(pattern, names).trim();
    const fix = hint === "" ? '"fanal methods" lists them' : hint.replace("Did", "did");
    problems.report(path, `${path.at(-1) === pattern ? "" : `"${pattern}" `}matches no method; ${fix}`);
  }
}

function count(number: number, singular: string, plural: string): string {
  return `${number} ${number === 1 ? singular : plural}`;
}
