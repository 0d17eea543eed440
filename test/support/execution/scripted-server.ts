import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { LoopbackServer } from "../sockets/loopback-server.ts";

export interface ReceivedCall {
  method: string;
  params: unknown[];
  id: number;
  authorization: string | undefined;
  socket: Socket;
}

type Handler = (params: unknown[], call: ReceivedCall) => unknown;
/** A raw HTTP response. */
type RawHandler = (call: ReceivedCall, response: ServerResponse) => void;

/** Thrown by a handler to respond with an error. */
export class ScriptedError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A scripted JSON-RPC server on loopback. */
export class ScriptedServer {
  readonly calls: ReceivedCall[] = [];
  readonly #handlers = new Map<string, Handler>();
  readonly #waiting: { method: string; resolve: () => void }[] = [];
  /** Overrides the handlers. */
  raw: RawHandler | null = null;
  readonly #rawOf = new Map<string, RawHandler>();
  readonly #server = new LoopbackServer((request, response) => void this.#answer(request, response));

  constructor(handlers: Record<string, Handler> = {}) {
    for (const [method, handler] of Object.entries(handlers)) this.on(method, handler);
  }

  get url(): string {
    return this.#server.url;
  }

  get methods(): string[] {
    return this.calls.map(({ method }) => method);
  }

  on(method: string, handler: Handler): void {
    this.#handlers.set(method, handler);
  }

  /** Overrides one method. Null restores it. */
  onRaw(method: string, handler: RawHandler | null): void {
    if (handler) this.#rawOf.set(method, handler);
    else this.#rawOf.delete(method);
  }

  /** Reuses the previous port after a stop. */
  async start(): Promise<this> {
    await this.#server.start();
    return this;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** Resolves on the next call of the method. */
  received(method: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ method, resolve }));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, params, id } = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedCall;
    const call = { method, params, id, authorization: request.headers.authorization, socket: request.socket };
    this.calls.push(call);
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.method === method) waiting.resolve();
      else this.#waiting.push(waiting);
    }
    const raw = this.#rawOf.get(method) ?? this.raw;
    if (raw) {
      raw(call, response);
      return;
    }
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(await this.#outcome(call)) }));
  }

  async #outcome(call: ReceivedCall): Promise<{ result: unknown } | { error: { code: number; message: string } }> {
    const handler = this.#handlers.get(call.method);
    if (!handler) return { error: { code: -32601, message: `the method ${call.method} does not exist` } };
    try {
      return { result: await handler(call.params, call) };
    } catch (error) {
      if (!(error instanceof ScriptedError)) throw error;
      return { error: { code: error.code, message: error.message } };
    }
  }
}
