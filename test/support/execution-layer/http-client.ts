import { makeToken } from "./jwt.ts";

/** Engine API of an execution layer in this process or over HTTP. */
export interface EngineCaller {
  /** Rejects JSON-RPC errors with their `code`. */
  call<Result = unknown>(method: string, ...params: unknown[]): Promise<Result>;
}

interface Reply {
  result?: unknown;
  error?: { code: number; message: string };
}

/** Minimal JSON-RPC client over HTTP with JWT authentication. */
export class EngineHttpClient implements EngineCaller {
  readonly url: string;
  readonly #secret: Uint8Array | undefined;
  #nextId = 1;

  /** Sends no tokens without a secret. */
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

  /** Returns the raw response to a request with a custom token. */
  post(method: string, params: readonly unknown[], token = this.#secret && makeToken(this.#secret)): Promise<Response> {
    return fetch(this.url, {
      method: "POST",
      // A new connection each time, since the server may close an idle one while it is reused.
      headers: {
        "content-type": "application/json",
        connection: "close",
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: this.#nextId++, method, params }),
    });
  }
}
