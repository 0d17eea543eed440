import { messageOf, parseJson, type RpcRequest, type RpcResponse, readResponses, type Transport } from "./transport.ts";

/** Calls over HTTP, each a request of its own. */
export class HttpTransport implements Transport {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #closing = new AbortController();

  constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  async send(requests: readonly RpcRequest[], signal?: AbortSignal): Promise<readonly RpcResponse[]> {
    const ending = this.#closing.signal;
    ending.throwIfAborted();
    const response = await this.#post(messageOf(requests), signal ? AbortSignal.any([signal, ending]) : ending);
    const text = await response.text();
    const responses = readResponses(parseJson(text));
    if (responses === undefined) throw new Error(`${this.#url} answered with ${response.status}: ${wordsOf(text)}`);
    return responses;
  }

  subscribe(): Promise<never> {
    const url = this.#url.replace(/^http(s?)/i, (_, secure: string) => `ws${secure.toLowerCase()}`);
    return Promise.reject(new Error(`Events come over WebSocket alone: create the client with the URL ${url}.`));
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("The client is closed."));
  }

  async #post(body: string, signal: AbortSignal): Promise<Response> {
    const headers = { "Content-Type": "application/json", ...this.#headers };
    try {
      return await fetch(this.#url, { method: "POST", headers, body, signal });
    } catch (error) {
      signal.throwIfAborted();
      // fetch itself says no more than that it failed.
      const { cause } = error as Error;
      const reason = cause instanceof Error ? cause.message || cause.name : String(error);
      throw new Error(`No node can be reached at ${this.#url}: ${reason}.`, { cause: error });
    }
  }
}

/** What a server says that serves no call at all, for one because the token is missing. */
function wordsOf(text: string): string {
  const body = parseJson(text) as { message?: unknown } | undefined;
  return typeof body?.message === "string" ? body.message : text.trim().slice(0, 500);
}
