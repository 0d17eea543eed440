/** Parameter of the OpenRPC document. */
export interface Parameter {
  name: string;
  description?: string;
  required?: boolean;
  schema: { type?: string | string[]; [key: string]: unknown };
}

export interface DiscoveredMethod {
  name: string;
  summary?: string;
  params: Parameter[];
  examples?: { params: { name: string; value: unknown }[] }[];
}

/** Parses JSON; undefined if invalid. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses typed input as JSON, or as a string if it is not JSON or a number that JavaScript would round. For a string
 * parameter, unquoted input is always a string.
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

/** Returns positional parameters up to the last one that was typed. */
export function paramsOf(parameters: readonly Parameter[], typed: Readonly<Record<string, string>>): unknown[] {
  const values = parameters.map(({ name, schema }) => {
    const text = typed[name]?.trim() ?? "";
    return text === "" ? undefined : readValue(text, schema);
  });
  const last = values.findLastIndex((value) => value !== undefined);
  return values.slice(0, last + 1).map((value) => value ?? null);
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function asCurl(url: string, method: string, params: readonly unknown[]): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return `curl -s ${url} -H 'Content-Type: application/json' -d ${quoted(body)}`;
}

export function asViem(url: string, method: string, params: readonly unknown[]): string {
  return [
    'import { createClient, http } from "viem";',
    "",
    `const client = createClient({ transport: http(${JSON.stringify(url)}) });`,
    `const result = await client.request(${JSON.stringify({ method, params })});`,
  ].join("\n");
}

/** Text with a special meaning for `fanal call`: a flag, standard input, a file or a named parameter. */
const MEANS_MORE = /^[-@]|^[a-z_]\w*=/i;

export function asFanalCall(url: string, method: string, params: readonly unknown[]): string {
  const words = params.map((value) => {
    const isPlain = typeof value === "string" && !MEANS_MORE.test(value) && readJson(value) === undefined;
    const text = isPlain ? value : JSON.stringify(value);
    return /^[\w.:/-]+$/.test(text) ? text : quoted(text);
  });
  return ["fanal call", method, ...words, "--url", url].join(" ");
}
