import { availableParallelism } from "node:os";
import { KNOWN_NETWORKS } from "../../../gateway/network/network-pin.ts";
import {
  type CacheSettings,
  DEFAULT_CACHE_SETTINGS,
  DEFAULT_GATEWAY_SETTINGS,
  type GatewaySettings,
} from "../../../gateway/settings.ts";
import { booleanFlag, type FlagsOf, type FlagTable, listFlag, valueFlag } from "../flag.ts";
import { FlagValueError, nonEmpty, wholeNumber } from "../flag-values.ts";
import { LOG_FLAGS } from "../log-flags.ts";
import { SERVER_LIMIT_FLAGS } from "../server/limit-flags.ts";
import { serverFlags } from "../server/server-flags.ts";
import { CONFIG_FILE_FLAG } from "../shared-flags.ts";
import { upstream } from "./upstream-value.ts";

function countOrAll(min: number, max: number): (text: string) => number | "all" {
  const count = wholeNumber(min, max);
  return (text) => {
    if (text === "all") return text;
    if (!/^\d+$/.test(text)) throw new FlagValueError(`it must be a whole number from ${min} to ${max}, or "all"`);
    return count(text);
  };
}

function processCount(text: string): number {
  const count = countOrAll(1, 1024)(text);
  return count === "all" ? availableParallelism() : count;
}

function redisUrl(text: string): string {
  if (!/^rediss?:\/\//i.test(text)) {
    throw new FlagValueError("it must be a URL that begins with redis:// or rediss://, such as redis://127.0.0.1:6379");
  }
  if (!URL.canParse(text)) throw new FlagValueError("it is not a URL: its host or port is invalid");
  if (!/^\/?\d*$/.test(new URL(text).pathname)) {
    throw new FlagValueError(
      "it must end with the number of a database or with the port, as in redis://127.0.0.1:6379/2",
    );
  }
  const { username, password } = new URL(text);
  try {
    decodeURIComponent(`${username}:${password}`);
  } catch {
    throw new FlagValueError("the credentials in its URL are not percent-encoded UTF-8");
  }
  return text;
}

const MIB = 1024 * 1024;
const { quorum, broadcast, hedgeDelayMillis, maxSlotsBehind, validation, memoryBytes, workers, drainMillis } =
  DEFAULT_GATEWAY_SETTINGS;

/** One flag per settings field, except upstreams, network and cache. */
export const GATEWAY_SETTING_FLAGS = {
  quorum: valueFlag({
    name: "quorum",
    kind: "number",
    placeholder: "COUNT",
    description: "Upstreams that must agree on a finalized checkpoint or a root before it is served",
    fallback: quorum,
    parse: wholeNumber(1),
  }),
  broadcast: valueFlag({
    name: "broadcast",
    kind: "numberOrText",
    placeholder: "COUNT|all",
    description: "Upstreams that receive submissions, such as blocks and attestations",
    choices: ["all"],
    fallback: broadcast,
    parse: countOrAll(1, 1000),
  }),
  hedgeDelayMillis: valueFlag({
    name: "hedge-after",
    kind: "number",
    placeholder: "MS",
    description:
      "Delay in milliseconds before a request is hedged to another upstream, until the usual latency is known",
    fallback: hedgeDelayMillis,
    parse: wholeNumber(1, 60_000),
  }),
  maxSlotsBehind: valueFlag({
    name: "max-slots-behind",
    kind: "number",
    placeholder: "SLOTS",
    description:
      "Slots an upstream may be behind the others, or report to be behind the clock, before it counts as lagging",
    fallback: maxSlotsBehind,
    parse: wholeNumber(0),
  }),
  validation: booleanFlag({
    name: "validation",
    description: "Check answers of upstreams against the method definitions before they are served or cached",
    fallback: validation,
  }),
  memoryBytes: valueFlag({
    name: "memory",
    kind: "number",
    placeholder: "MIB",
    description: "Size of the in-memory response cache of each process",
    fallback: memoryBytes,
    fallbackText: String(memoryBytes / MIB),
    parse: (text) => wholeNumber(0, 1_000_000)(text) * MIB,
  }),
  workers: valueFlag({
    name: "workers",
    kind: "numberOrText",
    placeholder: "COUNT|all",
    description: "Number of server processes; all is one per core, 1 serves in the main process",
    choices: ["all"],
    fallback: workers,
    parse: processCount,
  }),
  drainMillis: valueFlag({
    name: "drain-seconds",
    kind: "number",
    placeholder: "SECONDS",
    description: "Time to keep serving after a stop signal while reporting not ready, so that load balancers can drain",
    fallback: drainMillis,
    fallbackText: String(drainMillis / 1000),
    parse: (text) => wholeNumber(0, 3600)(text) * 1000,
  }),
} as const satisfies FlagsOf<Omit<GatewaySettings, "upstreams" | "network" | "cache" | "clients" | "policies">>;

/** One flag per cache settings field, except the URL. */
export const CACHE_SETTING_FLAGS = {
  prefix: valueFlag({
    name: "cache-prefix",
    kind: "text",
    placeholder: "TEXT",
    description: "Key prefix in --cache; gateways with the same prefix share their entries",
    fallback: DEFAULT_CACHE_SETTINGS.prefix,
    parse: nonEmpty("a text"),
  }),
  ttlSeconds: valueFlag({
    name: "cache-seconds",
    kind: "number",
    placeholder: "SECONDS",
    description: "Lifetime of finalized responses in --cache",
    fallback: DEFAULT_CACHE_SETTINGS.ttlSeconds,
    parse: wholeNumber(1, 315_360_000),
  }),
} as const satisfies FlagsOf<Omit<CacheSettings, "url">>;

export const GATEWAY_FLAGS = {
  upstreams: listFlag({
    name: "upstream",
    placeholder: "URL",
    description:
      "REST API of a beacon node; repeatable. Settings may follow in the same quotes: tier=N, weight=N, name=NAME, " +
      'token-file=FILE, as in "http://10.0.0.2:5052 tier=1"',
    parse: upstream,
  }),
  network: valueFlag({
    name: "network",
    kind: "text",
    placeholder: "NAME|DIR|GENESIS_ROOT",
    description:
      "Network of the upstreams: a built-in name, a directory with genesis.ssz, or the genesis validators root; " +
      "upstreams on another network get no requests",
    choices: Object.keys(KNOWN_NETWORKS),
    fallback: undefined,
    fallbackText: "the network of most upstreams",
    parse: nonEmpty("a network's name, a directory or a genesis validators root"),
  }),
  ...GATEWAY_SETTING_FLAGS,
  cache: valueFlag({
    name: "cache",
    kind: "text",
    placeholder: "URL",
    description:
      "Redis or Valkey, such as redis://127.0.0.1:6379, that shares finalized responses and events between gateways",
    fallback: undefined,
    parse: redisUrl,
  }),
  cachePasswordFile: valueFlag({
    name: "cache-password-file",
    kind: "text",
    placeholder: "FILE",
    description: "File with the password of --cache",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  ...CACHE_SETTING_FLAGS,
  ...serverFlags({ areOn: true }),
  ...LOG_FLAGS,
  ...SERVER_LIMIT_FLAGS,
  configFile: CONFIG_FILE_FLAG,
} as const satisfies FlagTable;
