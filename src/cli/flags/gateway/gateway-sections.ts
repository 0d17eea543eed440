import type { ClientSettings, MethodPolicySettings } from "../../../gateway/settings.ts";
import type { AccessClass } from "../../../server/access-class.ts";
import { usageError } from "../../exit.ts";
import { readConfigDocument } from "../config-file.ts";
import { FlagValueError, withoutCredentials } from "../flag-values.ts";
import { GATEWAY_SECTIONS, type GatewaySections, sectionProblems } from "./gateway-schema.ts";
import { type ParsedUpstream, parseUpstream } from "./upstream-value.ts";

export interface ParsedSections {
  readonly upstreams: readonly ParsedUpstream[];
  readonly clients: readonly ClientSettings[];
  readonly policies: readonly MethodPolicySettings[];
}

const DEFAULT_CLASSES: readonly AccessClass[] = ["read", "submit"];

/** Reads the sections `upstreams`, `clients` and `methods` of a config file. The usage error lists every problem. */
export function readGatewaySections(path: string): ParsedSections {
  const document = readConfigDocument(path);
  const parsed = GATEWAY_SECTIONS.safeParse(document);
  if (!parsed.success) throw invalidFile(path, sectionProblems(parsed.error));
  const { upstreams = [], clients = [], methods = {} } = parsed.data;
  if (upstreams.length > 0 && "upstream" in document) {
    throw invalidFile(path, ['upstreams: the key "upstream" lists upstreams too; give one of them']);
  }
  const problems: string[] = [];
  const parsedUpstreams = upstreams.flatMap((written, index) => {
    try {
      return upstreamOf(written);
    } catch (error) {
      if (!(error instanceof FlagValueError)) throw error;
      problems.push(`upstreams[${index}].url: ${withoutCredentials(written.url)} is not accepted: ${error.message}`);
      return [];
    }
  });
  problems.push(...duplicates(clients, ({ name }) => name, "name"));
  problems.push(...duplicates(clients, (client) => client["key-sha256"] ?? "", "key-sha256"));
  if (problems.length > 0) throw invalidFile(path, problems);
  return {
    upstreams: parsedUpstreams,
    clients: clients.map(clientOf),
    policies: Object.entries(methods).map(([pattern, policy]) => policyOf(pattern, policy)),
  };
}

type Written<Section extends "upstreams" | "clients"> = NonNullable<GatewaySections[Section]>[number];
type WrittenPolicy = NonNullable<GatewaySections["methods"]>[string];

function upstreamOf({
  url,
  name,
  tier,
  weight,
  tags,
  headers,
  budget,
  ...files
}: Written<"upstreams">): ParsedUpstream {
  return {
    ...parseUpstream(url, { name, tier, weight, tokenFile: files["token-file"] }),
    ...(tags && { tags }),
    ...(headers && { headers }),
    ...(files["header-files"] && { headerFiles: files["header-files"] }),
    ...(budget && { budget: budgetOf(budget) }),
  };
}

function clientOf({ name, classes = [...DEFAULT_CLASSES], methods, budget = {}, ...rest }: Written<"clients">) {
  return { name, keyHash: rest["key-sha256"], classes, methods, budget: budgetOf(budget) };
}

function budgetOf(budget: NonNullable<Written<"clients">["budget"]>): ClientSettings["budget"] {
  return {
    requestsPerSecond: budget["requests-per-second"],
    requestsPerDay: budget["requests-per-day"],
    unitsPerSecond: budget["units-per-second"],
    unitsPerDay: budget["units-per-day"],
  };
}

function policyOf(pattern: string, policy: WrittenPolicy): MethodPolicySettings {
  const seconds = policy["timeout-seconds"];
  return {
    pattern,
    timeoutMillis: seconds === undefined ? undefined : seconds * 1000,
    hedgeDelayMillis: policy["hedge-after"],
    quorum: policy.quorum,
    cacheSeconds: policy["cache-seconds"],
    tags: policy.tags,
    units: policy.units,
  };
}

function duplicates(
  clients: readonly Written<"clients">[],
  keyOf: (client: Written<"clients">) => string,
  key: string,
): string[] {
  return clients.flatMap((client, index) => {
    const first = clients.findIndex((other) => keyOf(other) === keyOf(client));
    return first === index ? [] : [`clients[${index}].${key}: the same as of clients[${first}]`];
  });
}

function invalidFile(path: string, problems: readonly string[]): Error {
  return usageError([`The config file ${path} is not valid:`, ...problems.map((problem) => `  ${problem}`)].join("\n"));
}
