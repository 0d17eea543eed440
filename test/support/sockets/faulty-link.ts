import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Treatment of responses: transform bytes, drop them on an open connection, or close the connection midway. */
type LinkMode = ((bytes: Buffer) => Buffer | Promise<Buffer>) | "drop" | "truncate";

/** TCP proxy that injects delays, corruption and disconnects. */
export class FaultyLink {
  /** Request lines of all forwarded requests. */
  readonly requests: string[] = [];
  readonly #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mode: LinkMode = (bytes) => bytes;

  static async to(url: string): Promise<FaultyLink> {
    const link = new FaultyLink(new URL(url));
    link.#server.listen(0, "127.0.0.1");
    await once(link.#server, "listening");
    return link;
  }

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forwards unchanged again, and closes affected connections. */
  mend(): void {
    this.pass((bytes) => bytes);
    this.#breakConnections();
  }

  pass(mode: LinkMode): void {
    this.#mode = mode;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#breakConnections();
    await closed;
  }

  #breakConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (bytes: Buffer) => {
      if (this.#mode === "drop") return;
      const [line] = bytes.toString("latin1").split("\r\n", 1);
      if (/ HTTP\/1\.1$/.test(line!)) this.requests.push(line!);
      server.write(bytes);
    });
    let last = Promise.resolve();
    server.on("data", (bytes: Buffer) => {
      const mode = this.#mode;
      if (mode === "drop") return;
      if (mode === "truncate") {
        client.destroy();
        return;
      }
      last = last.then(async () => {
        client.write(await mode(bytes));
      });
    });
  }
}
