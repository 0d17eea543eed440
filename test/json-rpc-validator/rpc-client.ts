export class RpcError extends Error {
  readonly code: number;

  constructor(method: string, { code, message, data }: { code: number; message: string; data?: unknown }) {
    super(`${method} failed with ${code}: ${message} ${JSON.stringify(data)}`);
    this.name = "RpcError";
    this.code = code;
  }
}

/** JSON-RPC client, the validator's only access to its beacon node. */
export class RpcClient {
  readonly #url: string;
  #nextId = 1;

  constructor(url: string) {
    this.#url = url;
  }

  async call<Result>(method: string, params: unknown[] = []): Promise<Result> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: this.#nextId++, method, params }),
    });
    const { result, error } = (await response.json()) as {
      result: Result;
      error?: { code: number; message: string; data?: unknown };
    };
    if (error) throw new RpcError(method, error);
    return result;
  }
}
