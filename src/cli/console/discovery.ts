import { NoAnswerError, postJson } from "../call/request.ts";
import { withoutCredentials } from "../flags/flag-values.ts";

/** What a node can be asked, for completion. */
export interface Names {
  methods: string[];
  topics: string[];
}

export interface Connection {
  url: string;
  token: string | undefined;
  timeout: number;
}

const LARGEST_ANSWER_BYTES = 32 * 1024 * 1024;
const REQUEST = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover","params":[]}';

interface Document {
  methods: { name: string; params: { schema: { items?: { enum?: string[] } } }[] }[];
}

/** Asks a node for its methods; throws a `NoAnswerError` when it does not tell them. */
export async function discover({ url, token, timeout }: Connection, signal?: AbortSignal): Promise<Names> {
  const { status, body } = await postJson({ url, json: REQUEST, token, timeoutSeconds: timeout, signal });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > LARGEST_ANSWER_BYTES) break;
  }
  try {
    const { methods } = (JSON.parse(Buffer.concat(chunks).toString("utf8")) as { result: Document }).result;
    const topics = methods.find(({ name }) => name === "subscribe")?.params[0]?.schema.items?.enum ?? [];
    return { methods: methods.map(({ name }) => name), topics };
  } catch (error) {
    throw new NoAnswerError(
      `The node at ${withoutCredentials(url)} does not tell its methods (HTTP status ${status}).`,
      error,
    );
  }
}
