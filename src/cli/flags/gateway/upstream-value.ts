import { FlagValueError, httpUrl, wholeNumber } from "../flag-values.ts";

/** Parsed --upstream value. */
export interface ParsedUpstream {
  name: string;
  /** Without credentials. */
  url: string;
  /** Authorization header for the credentials in the URL. */
  authorization: string | undefined;
  tier: number;
  weight: number;
  tokenFile: string | undefined;
}

/** Names are used in headers and metric labels. */
const NAME = /^[\w.:[\]-]{1,100}$/;
const SETTINGS = ["name", "tier", "weight", "token-file"];

/** Parses a URL followed by settings such as `tier=1`, in any order. */
export function upstream(text: string): ParsedUpstream {
  const [written = "", ...words] = text.split(/\s+/);
  const url = new URL(httpUrl(written));
  if (url.search !== "" || url.hash !== "") {
    throw new FlagValueError("the URL must be the base to which /eth/… is appended, without ? and #");
  }
  const settings = readSettings(words);
  const authorization = basicAuthorization(url);
  const tokenFile = settings.get("token-file");
  if (authorization !== undefined && tokenFile !== undefined) {
    throw new FlagValueError("it has both credentials in the URL and a token-file; give one of them");
  }
  url.username = "";
  url.password = "";
  const name = settings.get("name") ?? url.host;
  if (!NAME.test(name)) throw new FlagValueError("its name may contain only letters, digits and . : _ -");
  return {
    name,
    url: url.href.replace(/\/+$/, ""),
    authorization,
    tier: readNumber(settings, "tier", 0, 0),
    weight: readNumber(settings, "weight", 1, 1),
    tokenFile,
  };
}

function readSettings(words: readonly string[]): Map<string, string> {
  const settings = new Map<string, string>();
  for (const word of words) {
    const [, key = "", value = ""] = /^([^=]*)=(.*)$/.exec(word) ?? [];
    if (!SETTINGS.includes(key) || value === "") {
      throw new FlagValueError(
        `unknown setting "${word}" after the URL; allowed are ${SETTINGS.map((name) => `${name}=…`).join(", ")}`,
      );
    }
    if (settings.has(key)) throw new FlagValueError(`it has ${key}=… twice`);
    settings.set(key, value);
  }
  return settings;
}

function readNumber(settings: ReadonlyMap<string, string>, key: string, least: number, fallback: number): number {
  const text = settings.get(key);
  if (text === undefined) return fallback;
  try {
    return wholeNumber(least, 1000)(text);
  } catch {
    throw new FlagValueError(`its ${key} must be a whole number from ${least} to 1000`);
  }
}

function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  try {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(credentials).toString("base64")}`;
  } catch {
    throw new FlagValueError("the credentials in its URL are not percent-encoded UTF-8");
  }
}
