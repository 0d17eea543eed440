/** What the URL of a node says. */
interface NodeUrl {
  /** As `URL` has it, with its colon. */
  protocol: string;
  /** The URL, without the name and the password that may be in it: they are nobody's to read in a message. */
  address: string;
  /** What those are sent as. */
  authorization: string | undefined;
}

export function readNodeUrl(url: string): NodeUrl {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^(http|ws)s?:$/.test(parsed.protocol)) {
    const shown = url.replace(/[^/]*@/, "");
    throw new Error(`"${shown}" is no URL of a node, which begins with http://, https://, ws:// or wss://.`);
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
    throw new Error("The name or the password in the URL of the node is not percent-encoded UTF-8.");
  }
}
