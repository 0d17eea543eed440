import { messageOf, parseJson, type RpcRequest, type RpcResponse, readResponses, type Transport } from "./transport.ts";

/** Sends calls over HTTP, with one request per call. */
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
    if (responses === undefined)
      throw new Error(`${this.#url} responded with HTTP status ${response.status}: ${bodyMessage(text)}`);
    return responses;
  }

  subscribe(): Promise<never> {
    const url = this.#url.replace(/^http(s?)/i, (_, secure: string) => `ws${secure.toLowerCase()}`);
    return Promise.reject(new Error(`Events require a WebSocket. Create the client with the URL ${url}.`));
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
      // The error message from fetch has no details, but its cause does.
      const { cause } = error as Error;
      const reason = cause instanceof Error ? cause.message || cause.name : String(error);
      throw new Error(`The node at ${this.#url} is unreachable: ${reason}.`, { cause: error });
    }
  }
}

/** Extracts the message of an HTTP error response, e.g. for a missing token. */
function bodyMessage(text: string): string {
  const body = parseJson(text) as { message?: unknown } | undefined;
  return typeof body?.message === "string" ? body.message : text.trim().slice(0, 500);
}
