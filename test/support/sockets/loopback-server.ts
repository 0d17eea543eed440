import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server on loopback that tests stop and restart. */
export class LoopbackServer {
  readonly #answer: RequestListener;
  #server: Server | undefined;
  #port = 0;

  constructor(answer: RequestListener) {
    this.#answer = answer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens on a free port. A restart reuses the port. */
  async start(): Promise<void> {
    const server = createServer(this.#answer);
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
}
