import type { ClientSettings, MethodPolicySettings } from "../../../gateway/settings.ts";
import type { AccessClass } from "../../../server/access-class.ts";
import { readConfigDocument } from "../config-file.ts";
import type { ConfigProblems } from "../config-problems.ts";
import { valueProblem } from "../describe-value.ts";
import { FlagValueError } from "../flag-values.ts";
import { GATEWAY_SECTIONS, type WrittenClient, type WrittenPolicy, type WrittenUpstream } from "./gateway-schema.ts";
import type { Read, Reader } from "./section-readers.ts";
import { type ParsedUpstream, parseUpstream } from "./upstream-value.ts";

/** Sections of a config file. Items that are no maps are undefined, so that the others keep their position. */
export interface ParsedSections {
  readonly upstreams: readonly (ParsedUpstream | undefined)[];
  readonly clients: readonly (ClientSettings | undefined)[];
  readonly policies: readonly MethodPolicySettings[];
  readonly patterns: readonly WrittenPattern[];
}

/** A method name or pattern and its place in the config file. */
export interface WrittenPattern {
  readonly pattern: string;
  readonly place: string;
}

const DEFAULT_CLASSES: readonly AccessClass[] = ["read", "submit"];

/** Reads the sections `upstreams`, `clients` and `methods` of a config file, and reports all their problems. */
export function readGatewaySections(path: string, problems: ConfigProblems): ParsedSections {
  const document = readConfigDocument(path);
  const written = <Key extends keyof typeof GATEWAY_SECTIONS>(key: Key) =>
    readSection(document, key, GATEWAY_SECTIONS[key] as Reader<Read<(typeof GATEWAY_SECTIONS)[Key]>>, problems);
  const upstreams = written("upstreams") ?? [];
  const clients = written("clients") ?? [];
  const methods = written("methods") ?? new Map<string, WrittenPolicy>();
  if (upstreams.length > 0 && "upstream" in document) {
    problems.report("upstreams", "lists upstreams, and so does upstream; remove one of the two keys", "");
  }
  const parsed = upstreams.map((upstream, index) => upstream && upstreamOf(upstream, `upstreams[${index}]`, problems));
  const isValidOf = (index: number) => (key: string) => problems.isValid(`upstreams[${index}].${key}`);
  const nameOf = (upstream: WrittenUpstream | undefined, index: number) =>
    upstream?.name ?? (["name", "url"].every(isValidOf(index)) ? parsed[index]?.name : undefined);
  reportSame(
    "upstreams",
    "url",
    parsed.map((upstream) => upstream?.url || undefined),
    problems,
  );
  reportSame("upstreams", "name", upstreams.map(nameOf), problems);
  reportSame(
    "clients",
    "name",
    clients.map((client) => client?.name),
    problems,
  );
  reportSame(
    "clients",
    "key-sha256",
    clients.map((client) => client?.["key-sha256"]?.toLowerCase()),
    problems,
  );
  const keyless = [...clients.keys()].filter(
    (index) => clients[index]?.["key-sha256"] === undefined && problems.isValid(`clients[${index}].key-sha256`),
  );
  for (const index of keyless.slice(1)) {
    problems.report(
      `clients[${index}].key-sha256`,
      `is missing; only one client may have none, clients[${keyless[0]}]`,
    );
  }
  return {
    upstreams: parsed,
    clients: clients.map((client) => client && clientOf(client)),
    policies: Array.from(methods, ([pattern, policy]) => policyOf(pattern, policy)),
    patterns: [...clients.flatMap(patternsOf), ...Array.from(methods.keys(), patternOfPolicy)],
  };
}

const patternOfPolicy = (pattern: string): WrittenPattern => ({ pattern, place: `methods.${pattern}` });

function patternsOf(client: WrittenClient | undefined, index: number): WrittenPattern[] {
  return (client?.methods ?? []).flatMap((pattern, position) =>
    pattern === undefined ? [] : { pattern, place: `clients[${index}].methods[${position}]` },
  );
}

function readSection<T>(document: object, key: string, read: Reader<T>, problems: ConfigProblems): T | undefined {
  return Object.hasOwn(document, key) ? read((document as Record<string, unknown>)[key], key, problems) : undefined;
}

/** Reports each value that an earlier item has, too. */
function reportSame(
  section: string,
  key: string,
  values: readonly (string | undefined)[],
  problems: ConfigProblems,
): void {
  for (const [index, value] of values.entries()) {
    const first = values.indexOf(value);
    if (value === undefined || first === index) continue;
    const fix = key === "name" ? "give it another one" : "remove one of them";
    problems.report(`${section}[${index}].${key}`, `is the same as of ${section}[${first}]; ${fix}`);
  }
}

/** Converts an upstream. Without a valid URL its URL is empty. */
function upstreamOf(written: WrittenUpstream, place: string, problems: ConfigProblems): ParsedUpstream {
  const { url, name, tier, weight, tags, headers, budget } = written;
  const headerFiles = written["header-files"];
  const tokenFile = written["token-file"];
  for (const header of headerFiles?.keys() ?? []) {
    if (!headers?.has(header)) continue;
    problems.report(`${place}.header-files`, `has the header ${header}, and so has headers; remove one of them`);
  }
  let parsed: ParsedUpstream = { name: name ?? "", url: "", authorization: undefined, tier: 0, weight: 1, tokenFile };
  try {
    if (url !== undefined) parsed = parseUpstream(url, { name, tier, weight, tokenFile });
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
    problems.report(`${place}.url`, valueProblem(error.message, url ?? ""));
  }
  return {
    ...parsed,
    ...(tags && { tags: tags.filter(isDefined) }),
    ...(headers && { headers: Object.fromEntries(headers) }),
    ...(headerFiles && { headerFiles: Object.fromEntries(headerFiles) }),
    ...(budget && { budget: budgetOf(budget) }),
  };
}

function clientOf({ name = "", classes, methods, budget = {}, ...rest }: WrittenClient): ClientSettings {
  return {
    name,
    keyHash: rest["key-sha256"]?.toLowerCase(),
    classes: classes?.filter(isDefined) ?? DEFAULT_CLASSES,
    methods: methods?.filter(isDefined),
    budget: budgetOf(budget),
  };
}

function budgetOf(budget: NonNullable<WrittenClient["budget"]>): ClientSettings["budget"] {
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
    tags: policy.tags?.filter(isDefined),
    units: policy.units,
  };
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}
