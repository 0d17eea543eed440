import { makeToken } from "./jwt.ts";

/** Who answers calls of the Engine API: an execution layer in this process, or one behind HTTP. */
export interface EngineCaller {
  /** Rejects with an error that has the `code` when the call is answered with one. */
  call<Result = unknown>(method: string, ...params: unknown[]): Promise<Result>;
}

interface Reply {
  result?: unknown;
  error?: { code: number; message: string };
}

/** A bare client of JSON-RPC over HTTP, with the tokens of the Engine API. */
export class EngineHttpClient implements EngineCaller {
  readonly url: string;
  readonly #secret: Uint8Array | undefined;
  #nextId = 1;

  /** Without a secret it sends no tokens. */
  constructor(url: string, secret?: Uint8Array) {
    this.url = url;
    this.#secret = secret;
  }

  async call<Result = unknown>(method: string, ...params: unknown[]): Promise<Result> {
    const response = await this.post(method, params);
    if (response.status !== 200) throw new Error(`${method}: HTTP ${response.status} ${await response.text()}`);
    const { result, error } = (await response.json()) as Reply;
    if (error) throw Object.assign(new Error(`${method}: ${error.message}`), { code: error.code });
    return result as Result;
  }

  /** The response as it is, to a request with a token of one's own. */
  post(method: string, params: readonly unknown[], token = this.#secret && makeToken(this.#secret)): Promise<Response> {
    return fetch(this.url, {
      method: "POST",
      // A connection of its own for each, since one that is idle may be closed just when it is used again.
      headers: {
        "content-type": "application/json",
        connection: "close",
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: this.#nextId++, method, params }),
    });
  }
}
