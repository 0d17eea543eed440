import { Agent, createServer, request } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { pipeline } from "node:stream";

/** An HTTP proxy in front of a node that records the trace ids of requests. */
export class RecordingProxy {
  /** Highest trace id as a number. */
  lastTraceId = 0;
  readonly #target: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((received, response) => {
    const { method, url, headers } = received;
    const traceId = Number.parseInt(String(headers.traceparent).split("-")[1] ?? "0", 16);
    this.lastTraceId = Math.max(this.lastTraceId, traceId);
    const forwarded = request(this.#target + url, { agent: this.#agent, method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      // An event stream may be idle for long.
      response.flushHeaders();
      pipeline(answer, response, () => {});
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    received.pipe(forwarded);
  });

  /** Listens on a free port. */
  static async to(target: string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  private constructor(target: string) {
    this.#target = target;
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await closed;
  }
}
