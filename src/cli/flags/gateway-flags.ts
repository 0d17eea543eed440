import { type FlagTable, listFlag, valueFlag } from "./flag.ts";
import { FlagValueError, nonEmpty, wholeNumber } from "./flag-values.ts";
import { CONFIG_FILE_FLAG } from "./flags.ts";
import { SERVER_LIMIT_FLAGS } from "./limit-flags.ts";
import { LOG_FLAGS } from "./log-flags.ts";
import { serverFlags } from "./server-flags.ts";
import { upstream } from "./upstream-value.ts";

function countOrAll(least: number, most: number): (text: string) => number | "all" {
  const count = wholeNumber(least, most);
  return (text) => {
    if (text === "all") return text;
    if (!/^\d+$/.test(text)) throw new FlagValueError(`it must be a whole number from ${least} to ${most}, or "all"`);
    return count(text);
  };
}

function redisUrl(text: string): string {
  if (!/^rediss?:\/\//i.test(text) || !URL.canParse(text) || !/^\/?\d*$/.test(new URL(text).pathname)) {
    throw new FlagValueError("it must be a URL that begins with redis:// or rediss://, such as redis://127.0.0.1:6379");
  }
  const { username, password } = new URL(text);
  try {
    decodeURIComponent(`${username}:${password}`);
  } catch {
    throw new FlagValueError("the credentials in its URL are not percent-encoded UTF-8");
  }
  return text;
}

export const GATEWAY_FLAGS = {
  upstreams: listFlag({
    name: "upstream",
    placeholder: "URL",
    description:
      'REST API of a beacon node to pass calls on to; repeatable. After the URL, in the same quotes, tier=N, weight=N, name=NAME and token-file=FILE may stand, as in "http://10.0.0.2:5052 tier=1"',
    parse: upstream,
  }),
  quorum: valueFlag({
    name: "quorum",
    kind: "number",
    placeholder: "COUNT",
    description: "How many upstreams have to agree on a finalized checkpoint or a root before it is told",
    fallback: 1,
    parse: wholeNumber(1),
  }),
  broadcast: valueFlag({
    name: "broadcast",
    kind: "text",
    placeholder: "COUNT|all",
    description: "How many upstreams get what is submitted, such as blocks and attestations",
    choices: ["all"],
    fallback: 1,
    parse: countOrAll(1, 1000),
  }),
  hedgeAfter: valueFlag({
    name: "hedge-after",
    kind: "number",
    placeholder: "MS",
    description:
      "How many milliseconds an upstream may take to answer before another is asked as well, until its usual time is known",
    fallback: 300,
    parse: wholeNumber(1, 60_000),
  }),
  maxSlotsBehind: valueFlag({
    name: "max-slots-behind",
    kind: "number",
    placeholder: "SLOTS",
    description:
      "How far an upstream may be behind the others, or behind the clock by its own word, and still be asked like them",
    fallback: 3,
    parse: wholeNumber(0),
  }),
  memory: valueFlag({
    name: "memory",
    kind: "number",
    placeholder: "MIB",
    description: "Answers that each process keeps in its memory",
    fallback: 256,
    parse: wholeNumber(0, 1_000_000),
  }),
  cache: valueFlag({
    name: "cache",
    kind: "text",
    placeholder: "URL",
    description:
      "Redis or Valkey, such as redis://127.0.0.1:6379, where final answers and events are shared by all gateways",
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
  cachePrefix: valueFlag({
    name: "cache-prefix",
    kind: "text",
    placeholder: "TEXT",
    description: "What the keys in --cache begin with; gateways with the same one share what they keep",
    fallback: "fanal:",
    parse: nonEmpty("a text"),
  }),
  cacheSeconds: valueFlag({
    name: "cache-seconds",
    kind: "number",
    placeholder: "SECONDS",
    description: "How long --cache keeps what is final",
    fallback: 86_400,
    parse: wholeNumber(1, 315_360_000),
  }),
  workers: valueFlag({
    name: "workers",
    kind: "text",
    placeholder: "COUNT|all",
    description: "Processes that serve; all stands for one a core, and 1 for the process itself",
    choices: ["all"],
    fallback: 1,
    parse: countOrAll(1, 1024),
  }),
  drainSeconds: valueFlag({
    name: "drain-seconds",
    kind: "number",
    placeholder: "SECONDS",
    description:
      "How long a gateway that is told to stop goes on to serve while it says that it is not ready, so that load balancers turn away first",
    fallback: 0,
    parse: wholeNumber(0, 3600),
  }),
  ...serverFlags({ areOn: true }),
  ...LOG_FLAGS,
  ...SERVER_LIMIT_FLAGS,
  configFile: CONFIG_FILE_FLAG,
} as const satisfies FlagTable;
