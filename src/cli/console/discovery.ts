import { NoResponseError, postJson, readUpTo } from "../call/request.ts";
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

/** Fetches the method names through `rpc.discover`. Throws a `NoResponseError` if the response is unusable. */
export async function discover({ url, token, timeout }: Connection, signal?: AbortSignal): Promise<Names> {
  const { status, body } = await postJson({ url, json: REQUEST, token, timeoutSeconds: timeout, signal });
  const text = String(await readUpTo(body, MAX_RESPONSE_BYTES));
  try {
    const { methods } = (JSON.parse(text) as { result: Document }).result;
    const topics = methods.find(({ name }) => name === "subscribe")?.params[0]?.schema.items?.enum ?? [];
    return { methods: methods.map(({ name }) => name), topics };
  } catch (error) {
    throw new NoResponseError(
      `The node at ${withoutCredentials(url)} returned no method list (HTTP status ${status}).`,
      error,
    );
  }
}
