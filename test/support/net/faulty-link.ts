import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * What becomes of the answers on their way: they pass, with or without a change, or they do not, and the connection
 * stays open or ends.
 */
type Passage = ((bytes: Buffer) => Buffer | Promise<Buffer>) | "nothing passes" | "answers break off";

/** A TCP proxy that a test can cut, slow down or corrupt. */
export class FaultyLink {
  /** The first lines of all requests that went through it. */
  readonly requests: string[] = [];
  readonly #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #passage: Passage = (bytes) => bytes;

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

  /** As it was in the beginning; connections that were spoiled end. */
  mend(): void {
    this.pass((bytes) => bytes);
    this.#breakConnections();
  }

  pass(passage: Passage): void {
    this.#passage = passage;
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
      if (this.#passage === "nothing passes") return;
      const [line] = bytes.toString("latin1").split("\r\n", 1);
      if (/ HTTP\/1\.1$/.test(line!)) this.requests.push(line!);
      server.write(bytes);
    });
    let last = Promise.resolve();
    server.on("data", (bytes: Buffer) => {
      const passage = this.#passage;
      if (passage === "nothing passes") return;
      if (passage === "answers break off") {
        client.destroy();
        return;
      }
      last = last.then(async () => {
        client.write(await passage(bytes));
      });
    });
  }
}
