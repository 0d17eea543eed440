/** Parameter from the OpenRPC document. */
export interface Parameter {
  name: string;
  description?: string;
  required?: boolean;
  schema: { type?: string | string[]; [key: string]: unknown };
}

export interface DiscoveredMethod {
  name: string;
  summary?: string;
  description?: string;
  tags?: { name: string }[];
  params: Parameter[];
  externalDocs?: { description?: string };
  "x-alias-of"?: string;
  examples?: { params: { name: string; value: unknown }[]; result?: { value: unknown } }[];
}

/** Parses JSON. Returns undefined if the text is invalid. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses typed input as JSON. Input that is not JSON, or a number that JavaScript would round, becomes a string. For a
 * string parameter, unquoted input is always a string.
 */
export function readValue(typed: string, { type }: Parameter["schema"] = {}): unknown {
  const value = readJson(typed);
  if (value === undefined || (type === "string" && typeof value !== "string")) return typed;
  const isRounded = typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isRounded ? typed : value;
}

export function writeValue(value: unknown): string {
  return typeof value === "string" && readValue(value) === value ? value : JSON.stringify(value);
}

/** Returns positional parameters, up to the last one with input. */
export function paramsOf(parameters: readonly Parameter[], typed: Readonly<Record<string, string>>): unknown[] {
  const values = parameters.map(({ name, schema }) => {
    const text = typed[name]?.trim() ?? "";
    return text === "" ? undefined : readValue(text, schema);
  });
  const last = values.findLastIndex((value) => value !== undefined);
  return values.slice(0, last + 1).map((value) => value ?? null);
}

/** Returns the parameters that have input, by name. */
export function namedParamsOf(
  parameters: readonly Parameter[],
  typed: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const entries = paramsOf(parameters, typed).map((value, index) => [parameters[index]!.name, value] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function asCurl(url: string, method: string, params: readonly unknown[]): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return `curl -s ${url} -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}`;
}

export function asViem(url: string, method: string, params: readonly unknown[]): string {
  return [
    'import { createClient, http } from "viem";',
    "",
    `const client = createClient({ transport: http(${JSON.stringify(url)}) });`,
    `const result = await client.request(${JSON.stringify({ method, params })});`,
  ].join("\n");
}

/** Formats a call of the client function for a method, or of `call` if there is no such function. */
export function asTypeScript(
  url: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
  isFunction: boolean,
): string {
  const args = Object.keys(params).length === 0 ? "" : literal(params);
  const callText = isFunction
    ? `${method}(${args})`
    : `call(${[JSON.stringify(method), args].filter(Boolean).join(", ")})`;
  return [...typeScriptClient(url), `const result = await client.${callText};`].join("\n");
}

export function asSubscription(url: string, topics: readonly string[]): string {
  const listener = "({ topic, data }) => console.log(topic, data)";
  return [
    ...typeScriptClient(url.replace(/^http/, "ws")),
    `const subscription = await client.subscribe(${literal(topics)}, ${listener});`,
  ].join("\n");
}

const typeScriptClient = (url: string) => [
  'import { createClient } from "fanal/client";',
  "",
  `const client = createClient({ url: ${JSON.stringify(url)} });`,
];

/** Formats a JSON value as TypeScript. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}: ${literal(member)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** Text that has a special meaning for `fanal call`: a flag, standard input, a file or a named parameter. */
const MEANS_MORE = /^[-@]|^[a-z_]\w*=/i;

export function asFanalCall(url: string, method: string, params: readonly unknown[]): string {
  const words = params.map((value) => {
    const isPlain = typeof value === "string" && !MEANS_MORE.test(value) && readJson(value) === undefined;
    const text = isPlain ? value : JSON.stringify(value);
    return /^[\w.:/-]+$/.test(text) ? text : quoted(text);
  });
  return ["fanal call", method, ...words, "--url", url].join(" ");
}
