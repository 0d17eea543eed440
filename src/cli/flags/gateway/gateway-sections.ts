import type { z } from "zod";
import type { ClientSettings, MethodPolicySettings } from "../../../gateway/settings.ts";
import type { AccessClass } from "../../../server/access-class.ts";
import { readConfigDocument } from "../config-file.ts";
import type { ConfigProblems, SettingPath } from "../config-problems.ts";
import { valueProblem } from "../describe-value.ts";
import { FlagValueError } from "../flag-values.ts";
import {
  GATEWAY_SECTIONS,
  type KeyProblem,
  type WrittenClient,
  type WrittenPolicy,
  type WrittenUpstream,
} from "./gateway-schema.ts";
import { type ParsedUpstream, parseUpstream } from "./upstream-value.ts";

/**
 * Sections of a config file. Items that are not maps are undefined, so that the remaining items keep their positions.
 */
export interface ParsedSections {
  readonly upstreams: readonly (ParsedUpstream | undefined)[];
  readonly clients: readonly (ClientSettings | undefined)[];
  readonly policies: readonly MethodPolicySettings[];
  readonly patterns: readonly WrittenPattern[];
}

/** A method name or pattern and its path in the config file. */
export interface WrittenPattern {
  readonly pattern: string;
  readonly path: SettingPath;
}

const DEFAULT_CLASSES: readonly AccessClass[] = ["read", "submit"];

/** Reads the `upstreams`, `clients` and `methods` sections of a config file and reports all problems in them. */
export function readGatewaySections(path: string, problems: ConfigProblems): ParsedSections {
  const document = readConfigDocument(path);
  const { upstreams, clients, methods } = GATEWAY_SECTIONS;
  const sections = {
    upstreams: readSection("upstreams", upstreams, document, problems) ?? [],
    clients: readSection("clients", clients, document, problems) ?? [],
    methods: Object.entries(readSection("methods", methods, document, problems) ?? {}),
  };
  if (sections.upstreams.length > 0 && "upstream" in document) {
    problems.report(["upstreams"], "lists upstreams, and so does upstream; remove one of the two keys", []);
  }
  return {
    upstreams: parseUpstreams(sections.upstreams, problems),
    clients: parseClients(sections.clients, problems),
    policies: sections.methods.map(([pattern, policy]) => policyOf(pattern, policy)),
    patterns: [
      ...sections.clients.flatMap(patternsOf),
      ...sections.methods.map(([pattern]) => ({ pattern, path: ["methods", pattern] })),
    ],
  };
}

/**
 * Reads a section and reports its problems. Invalid settings prevent later checks from running, so they are removed
 * from the document and the section is read again.
 */
function readSection<T>(key: string, schema: z.ZodType<T>, document: object, problems: ConfigProblems): T | undefined {
  while (Object.hasOwn(document, key)) {
    const { data, error } = schema.safeParse((document as Record<string, unknown>)[key]);
    if (error === undefined) return data;
    for (const issue of error.issues) {
      const container = [key, ...(issue.path as SettingPath)];
      const path = [...container];
      const last = container.pop()!;
      const { isHidden, meant }: KeyProblem = (issue.code === "custom" && issue.params) || {};
      problems.report(isHidden ? container : path, issue.message, meant === undefined ? path : [...container, meant]);
      remove(last, container, document);
    }
  }
  return undefined;
}

/** Removes a setting from its parent. List items become undefined, so that the remaining items keep their positions. */
function remove(part: string | number, container: SettingPath, document: object): void {
  const owner = container.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document);
  if (Array.isArray(owner)) owner[Number(part)] = undefined;
  else delete (owner as Record<string, unknown>)[part];
}

function parseUpstreams(
  entries: readonly (WrittenUpstream | undefined)[],
  problems: ConfigProblems,
): (ParsedUpstream | undefined)[] {
  requireKey("upstreams", "url", entries, "{ url: http://127.0.0.1:5052 }", problems);
  const parsed = entries.map((upstream, index) => upstream && upstreamOf(upstream, ["upstreams", index], problems));
  const isNameKnown = (index: number) => ["name", "url"].every((key) => problems.isValid(["upstreams", index, key]));
  reportSame(
    "upstreams",
    "url",
    parsed.map((upstream) => upstream?.url || undefined),
    problems,
  );
  const names = entries.map(
    (upstream, index) => upstream?.name ?? (isNameKnown(index) ? parsed[index]?.name : undefined),
  );
  reportSame("upstreams", "name", names, problems);
  return parsed;
}

function parseClients(
  entries: readonly (WrittenClient | undefined)[],
  problems: ConfigProblems,
): (ClientSettings | undefined)[] {
  requireKey("clients", "name", entries, "{ name: wallet, key-sha256: … }", problems);
  const clients = entries.map((client) => client && clientOf(client));
  reportSame(
    "clients",
    "name",
    entries.map((client) => client?.name),
    problems,
  );
  reportSame(
    "clients",
    "key-sha256",
    clients.map((client) => client?.keyHash),
    problems,
  );
  const [first, ...others] = [...clients.keys()].filter(
    (index) => clients[index]?.keyHash === undefined && problems.isValid(["clients", index, "key-sha256"]),
  );
  for (const index of others) {
    problems.report(["clients", index, "key-sha256"], `is missing; only one client may have none, clients[${first}]`);
  }
  return clients;
}

/** Reports each item without a key. */
function requireKey<Key extends string>(
  section: string,
  key: Key,
  items: readonly ({ [K in Key]?: unknown } | undefined)[],
  example: string,
  problems: ConfigProblems,
): void {
  for (const [index, item] of items.entries()) {
    const path = [section, index, key];
    if (item === undefined || item[key] !== undefined || !problems.isValid(path)) continue;
    problems.report(path, `is missing; write it as in ${example}`);
  }
}

/** Reports each value that duplicates an earlier item's value. */
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
    problems.report([section, index, key], `is the same as of ${section}[${first}]; ${fix}`);
  }
}

/** Converts an upstream. If the URL is invalid, it is left empty. */
function upstreamOf(entry: WrittenUpstream, path: SettingPath, problems: ConfigProblems): ParsedUpstream {
  const { url, name, tier, weight, tags, headers, budget } = entry;
  const headerFiles = entry["header-files"];
  const tokenFile = entry["token-file"];
  for (const header of Object.keys(headerFiles ?? {})) {
    if (headers === undefined || !Object.hasOwn(headers, header)) continue;
    problems.report([...path, "header-files"], `has the header ${header}, and so has headers; remove one of them`);
  }
  let parsed: ParsedUpstream = { name: name ?? "", url: "", authorization: undefined, tier: 0, weight: 1, tokenFile };
  try {
    if (url !== undefined) parsed = parseUpstream(url, { name, tier, weight, tokenFile });
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
    problems.report([...path, "url"], valueProblem(error.message, url ?? ""));
  }
  return {
    ...parsed,
    ...(tags && { tags: tags.filter(isDefined) }),
    ...(headers && { headers }),
    ...(headerFiles && { headerFiles }),
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

function patternsOf(client: WrittenClient | undefined, index: number): WrittenPattern[] {
  return (client?.methods ?? []).flatMap((pattern, position) =>
    pattern === undefined ? [] : { pattern, path: ["clients", index, "methods", position] },
  );
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
