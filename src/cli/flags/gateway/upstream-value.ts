import type { UpstreamSettings } from "../../../gateway/settings.ts";
import { FlagValueError, httpUrl, wholeNumber } from "../flag-values.ts";

/** An upstream whose secret files have not been read yet. */
export interface ParsedUpstream extends Omit<UpstreamSettings, "authorization"> {
  /** Authorization header derived from the credentials in the URL. */
  authorization: string | undefined;
  tokenFile: string | undefined;
  /** Files holding extra header values, by header name. */
  headerFiles?: Readonly<Record<string, string>>;
}

/** Settings that may follow the URL. */
export interface UpstreamOptions {
  name?: string | undefined;
  tier?: number | undefined;
  weight?: number | undefined;
  tokenFile?: string | undefined;
}

/** Names appear in headers and metric labels. */
const NAME = /^[\w.:[\]-]{1,100}$/;
const SETTINGS = ["name", "tier", "weight", "token-file"];

/** Parses a URL followed by settings such as `tier=1`, in any order. */
export function upstream(text: string): ParsedUpstream {
  const [url = "", ...words] = text.split(/\s+/);
  // Checked first, so that an invalid URL is reported before any other problem.
  httpUrl(url);
  const settings = readSettings(words);
  return parseUpstream(url, {
    name: settings.get("name"),
    tier: readNumber(settings, "tier", 0),
    weight: readNumber(settings, "weight", 1),
    tokenFile: settings.get("token-file"),
  });
}

/** Validates an upstream's URL and extracts its credentials. */
export function parseUpstream(urlText: string, options: UpstreamOptions): ParsedUpstream {
  const url = new URL(httpUrl(urlText));
  if (url.search !== "" || url.hash !== "") {
    throw new FlagValueError("the URL must be the base to which /eth/… is appended, without ? and #");
  }
  const { tier = 0, weight = 1, tokenFile } = options;
  const authorization = basicAuthorization(url);
  if (authorization !== undefined && tokenFile !== undefined) {
    throw new FlagValueError("it has both credentials in the URL and a token-file; give one of them");
  }
  url.username = "";
  url.password = "";
  const name = options.name ?? url.host;
  if (!NAME.test(name)) throw new FlagValueError("its name may contain only letters, digits and . : _ -");
  return { name, url: url.href.replace(/\/+$/, ""), authorization, tier, weight, tokenFile };
}

function readSettings(words: readonly string[]): Map<string, string> {
  const settings = new Map<string, string>();
  for (const word of words) {
    const [, key = "", value = ""] = /^([^=]*)=(.*)$/.exec(word) ?? [];
    if (!SETTINGS.includes(key) || value === "") {
      // The setting's value may be a secret.
      const name = SETTINGS.find((setting) => word === setting || key === setting);
      const problem = name === undefined ? "a word after the URL is no setting" : `its setting "${name}" has no value`;
      throw new FlagValueError(`${problem}; allowed are ${SETTINGS.map((name) => `${name}=…`).join(", ")}`);
    }
    if (settings.has(key)) throw new FlagValueError(`it has ${key}=… twice`);
    settings.set(key, value);
  }
  return settings;
}

function readNumber(settings: ReadonlyMap<string, string>, key: string, min: number): number | undefined {
  const text = settings.get(key);
  if (text === undefined) return undefined;
  try {
    return wholeNumber(min, 1000)(text);
  } catch {
    throw new FlagValueError(`its ${key} must be a whole number from ${min} to 1000`);
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
