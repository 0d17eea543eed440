/** Parsed URL of a node. */
interface NodeUrl {
  /** Includes the colon, as in `URL`. */
  protocol: string;
  /** URL without credentials, which makes it safe for error messages. */
  address: string;
  /** Authorization header for the credentials. */
  authorization: string | undefined;
}

/** Returns the client options. Rejects a bare URL and a missing URL, which JavaScript programs may pass. */
export function readClientOptions<T extends { readonly url: string }>(caller: string, options: T): T {
  const input: unknown = options;
  if (typeof input === "string") {
    throw new TypeError(`${caller} takes an object. Write ${caller}({ url: ${JSON.stringify(shownUrl(input))} }).`);
  }
  const url: unknown = (input as { url?: unknown } | null | undefined)?.url;
  if (typeof url === "string") return options;
  throw new TypeError(`${caller} needs the "url" of a node, such as "http://127.0.0.1:9190", got ${String(url)}.`);
}

/** Returns a URL without credentials. */
const shownUrl = (url: string): string => url.replace(/[^/]*@/, "");

export function readNodeUrl(url: string): NodeUrl {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^(http|ws)s?:$/.test(parsed.protocol)) {
    throw new Error(`Invalid node URL "${shownUrl(url)}". It must start with http://, https://, ws:// or wss://.`);
  }
  const { protocol, username, password } = parsed;
  if (username === "" && password === "") return { protocol, address: url, authorization: undefined };
  parsed.username = "";
  parsed.password = "";
  return { protocol, address: parsed.href, authorization: basicAuthorization(username, password) };
}

/** Specified in RFC 7617. */
function basicAuthorization(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${decoded(username)}:${decoded(password)}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("The credentials in the node URL are not percent-encoded UTF-8.");
  }
}
