import type { MethodDefinition } from "../../src/api/definition.ts";

export interface RestCall {
  verb: "GET" | "POST";
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** The REST request equivalent to a call with positional parameters. */
export function restCall({ params: signature, rest }: MethodDefinition, params: unknown[], fork: string): RestCall {
  const { verb, path: template } = rest[0]!;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let path = template;
  let body: unknown;
  const bodyParam = verb === "POST" && signature.find(({ name, header }) => !header && !template.includes(`{${name}}`));
  for (const [position, { name, each, header }] of signature.entries()) {
    const given = each ? params.slice(position).flat() : params[position];
    const value = given ?? (name === "consensus_version" ? fork : undefined);
    if (value === undefined) continue;
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(String(value)));
    else if (header) headers[header.name] = String(value);
    else if (bodyParam && name === bodyParam.name) body = value;
    else setQuery(query, name, value);
  }
  const text = query.toString();
  const call: RestCall = { verb, path: text === "" ? path : `${path}?${text}`, headers };
  if (body === undefined) return call;
  return { ...call, headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

function setQuery(query: URLSearchParams, name: string, value: unknown): void {
  // REST has valueless flags, and graffiti in hex only.
  if (name === "skip_randao_verification") {
    if (value === true) query.set(name, "");
  } else if (name === "graffiti" && !String(value).startsWith("0x")) {
    query.set(name, `0x${Buffer.from(String(value)).toString("hex")}`);
  } else {
    query.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
}
