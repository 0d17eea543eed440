import { unmatchedPatterns } from "../../gateway/policies/method-patterns.ts";
import type { GatewaySettings } from "../../gateway/settings.ts";
import { usageError } from "../exit.ts";
import { gatewaySettings } from "../flags/gateway/gateway-settings.ts";
import { type FlagSources, resolveFlags } from "../flags/resolve-flags.ts";
import { CONFIG_FILE_FLAG } from "../flags/shared-flags.ts";

/** Validates a config file as `fanal gateway` would at its start. Returns a summary, throws a usage error if invalid. */
export async function checkGatewayFile(file: string, sources: FlagSources): Promise<string> {
  const given = new Map(sources.given).set(CONFIG_FILE_FLAG.name, [file]);
  const { gateway } = gatewaySettings(resolveFlags("gateway", { ...sources, given }), sources.workingDirectory);
  await requireKnownMethods(gateway);
  const { upstreams, clients, policies } = gateway;
  const counts = [
    count(upstreams.length, "upstream", "upstreams"),
    count(clients.length, "client", "clients"),
    count(policies.length, "method policy", "method policies"),
  ];
  return `${file} is valid: ${counts.join(", ")}\n`;
}

/** Throws a usage error if a pattern of a client or a policy matches no method. Loads the method definitions. */
export async function requireKnownMethods({
  clients,
  policies,
}: Pick<GatewaySettings, "clients" | "policies">): Promise<void> {
  const patterns = [...clients.flatMap(({ methods = [] }) => methods), ...policies.map(({ pattern }) => pattern)];
  if (patterns.length === 0) return;
  const { methodGroups } = await import("../../api/method-groups.ts");
  const [unknown] = unmatchedPatterns(
    patterns,
    methodGroups.flatMap(({ methods }) => methods),
  );
  if (unknown === undefined) return;
  throw usageError(`No method matches "${unknown}". "fanal methods" lists them.`);
}

function count(number: number, one: string, several: string): string {
  return `${number} ${number === 1 ? one : several}`;
}
