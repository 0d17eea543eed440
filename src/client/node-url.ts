/** Parsed URL of a node. */
interface NodeUrl {
  /** With the colon, as in `URL`. */
  protocol: string;
  /** URL without credentials, safe for error messages. */
  address: string;
  /** Authorization header for the credentials. */
  authorization: string | undefined;
}

export function readNodeUrl(url: string): NodeUrl {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^(http|ws)s?:$/.test(parsed.protocol)) {
    const shown = url.replace(/[^/]*@/, "");
    throw new Error(`Invalid node URL "${shown}". It must start with http://, https://, ws:// or wss://.`);
  }
  const { protocol, username, password } = parsed;
  if (username === "" && password === "") return { protocol, address: url, authorization: undefined };
  parsed.username = "";
  parsed.password = "";
  return { protocol, address: parsed.href, authorization: basicAuthorization(username, password) };
}

/** RFC 7617. */
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
