import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Outcome } from "./call-log.ts";
import type { ExecutionLayer } from "./execution-layer.ts";
import { tokenProblem } from "./jwt.ts";

interface Request {
  id: unknown;
  method: string;
  params?: unknown[];
}

export interface ServedExecutionLayer {
  url: string;
  /** Number of requests rejected by authentication. */
  readonly refused: number;
  /** Closes the server and all connections. */
  close(): Promise<void>;
}

export interface ServeOptions {
  /** JWT secret of 32 bytes. Without it, authentication is disabled. */
  secret?: Uint8Array;
  /** Default: a free port. */
  port?: number;
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(body);
}

function envelope(id: unknown, outcome: Outcome) {
  if (outcome.kind === "result") return { jsonrpc: "2.0", id, result: outcome.result ?? null };
  if (outcome.kind === "error") return { jsonrpc: "2.0", id, error: { code: outcome.code, message: outcome.message } };
  throw new Error(`An outcome of ${outcome.kind} is no answer of JSON-RPC.`);
}

/** Serves JSON-RPC over HTTP on loopback. */
export async function serveExecutionLayer(
  layer: ExecutionLayer,
  { secret, port = 0 }: ServeOptions = {},
): Promise<ServedExecutionLayer> {
  let refused = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const problem = secret && tokenProblem(request.headers.authorization, secret);
    if (problem !== undefined) {
      refused++;
      return send(response, 401, JSON.stringify(problem));
    }
    const body: Request | Request[] = JSON.parse(Buffer.concat(chunks).toString());
    const requests = [body].flat();
    const outcomes = await Promise.all(requests.map(({ method, params }) => layer.answer(method, params ?? [])));
    for (const outcome of outcomes) {
      // A connection fault of one call affects the whole batch.
      if (outcome.kind === "reset") return void request.socket.resetAndDestroy();
      if (outcome.kind === "http") return send(response, outcome.status, outcome.body);
    }
    const envelopes = outcomes.map((outcome, index) => envelope(requests[index]!.id, outcome));
    send(response, 200, JSON.stringify(Array.isArray(body) ? envelopes : envelopes[0]));
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => send(response, 500, JSON.stringify(String(error))));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get refused() {
      return refused;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
