import { NoResponseError, postJson } from "../call/request.ts";
import { withoutCredentials } from "../flags/flag-values.ts";

/** Method and topic names for completion. */
export interface Names {
  methods: string[];
  topics: string[];
}

export interface Connection {
  url: string;
  token: string | undefined;
  timeout: number;
}

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const REQUEST = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover","params":[]}';

interface Document {
  methods: { name: string; params: { schema: { items?: { enum?: string[] } } }[] }[];
}

/** Fetches the method names by `rpc.discover`. Throws a `NoResponseError` if the response is unusable. */
export async function discover({ url, token, timeout }: Connection, signal?: AbortSignal): Promise<Names> {
  const { status, body } = await postJson({ url, json: REQUEST, token, timeoutSeconds: timeout, signal });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) break;
  }
  try {
    const { methods } = (JSON.parse(Buffer.concat(chunks).toString("utf8")) as { result: Document }).result;
    const topics = methods.find(({ name }) => name === "subscribe")?.params[0]?.schema.items?.enum ?? [];
    return { methods: methods.map(({ name }) => name), topics };
  } catch (error) {
    throw new NoResponseError(
      `The node at ${withoutCredentials(url)} returned no method list (HTTP status ${status}).`,
      error,
    );
  }
}
