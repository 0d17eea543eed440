/** A parameter as the node's OpenRPC document has it. */
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

/** Undefined for what is no JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What was typed is JSON where it can be read as such, and else text; so is a number that would be another one as JSON. Where nothing
 * but text is taken, it is text without quotes, too.
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

/** By position, as far as something was typed. */
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

/** Text that `fanal call` would read as something else: a flag, standard input, a file, a parameter with its name. */
const MEANS_MORE = /^[-@]|^[a-z_]\w*=/i;

export function asFanalCall(url: string, method: string, params: readonly unknown[]): string {
  const words = params.map((value) => {
    const isPlain = typeof value === "string" && !MEANS_MORE.test(value) && readJson(value) === undefined;
    const text = isPlain ? value : JSON.stringify(value);
    return /^[\w.:/-]+$/.test(text) ? text : quoted(text);
  });
  return ["fanal call", method, ...words, "--url", url].join(" ");
}
