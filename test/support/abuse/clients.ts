import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";

/** URLs of the attacked node. */
export interface Target {
  jsonRpcUrl: string;
  restUrl: string;
  /** The newest slot with a state. */
  slot: number;
}

/** Clients of an attack. All are closed when it ends. */
export class Clients {
  readonly target: Target;
  /** Share of the maximum number of connections. */
  readonly scale: number;
  readonly #signal: AbortSignal;
  readonly #open = new Set<Socket | WebSocket>();

  constructor(target: Target, signal: AbortSignal, { scale = 1 } = {}) {
    this.target = target;
    this.scale = scale;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#endAll(), { once: true });
  }

  get areWanted(): boolean {
    return !this.#signal.aborted;
  }

  get count(): number {
    return this.#open.size;
  }

  /** A paused connection. Undefined if the node refuses it. */
  async connect(url: string): Promise<Socket | undefined> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    return (await this.#opened(socket, "connect")) ? socket : undefined;
  }

  async connectWebSocket(): Promise<WebSocket | undefined> {
    const socket = new WebSocket(this.target.jsonRpcUrl.replace("http", "ws"), { perMessageDeflate: false });
    return (await this.#opened(socket, "open")) ? socket : undefined;
  }

  /** Sends a request and reads the whole response, or disconnects after the given time. */
  async exchange(url: string, request: string | Buffer, { leaveAfterMillis = 60_000 } = {}): Promise<void> {
    const socket = await this.connect(url);
    if (socket === undefined) return;
    socket.resume().write(request);
    const timeout = setTimeout(() => socket.destroy(), leaveAfterMillis);
    await new Promise<void>((resolve) => {
      if (socket.closed) resolve();
      else socket.once("close", () => resolve());
    });
    clearTimeout(timeout);
  }

  /** Waits, but not beyond the end of the attack. */
  async pause(millis: number): Promise<void> {
    if (!this.areWanted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, millis);
    this.#signal.addEventListener("abort", wake);
    await promise;
    clearTimeout(timer);
    this.#signal.removeEventListener("abort", wake);
  }

  /** Repeats the work concurrently. */
  async repeat(atOnce: number, act: () => Promise<void>): Promise<void> {
    const actor = async () => {
      while (this.areWanted) {
        await act();
        // Avoids a busy loop if the node refuses immediately.
        await this.pause(1);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, actor));
  }

  async #opened(socket: Socket | WebSocket, event: "connect" | "open"): Promise<boolean> {
    if (!this.areWanted) {
      end(socket);
      return false;
    }
    this.#open.add(socket);
    socket.on("close", () => this.#open.delete(socket));
    const { promise, resolve } = Promise.withResolvers<boolean>();
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(false));
    socket.on(event, () => resolve(true));
    return promise;
  }

  #endAll(): void {
    for (const socket of this.#open) end(socket);
  }
}

function end(socket: Socket | WebSocket): void {
  if (!(socket instanceof WebSocket)) {
    socket.destroy();
    return;
  }
  // Closing fails before it is open.
  socket.on("error", () => {});
  socket.terminate();
}

interface PostHead {
  path?: string;
  /** Undefined for a chunked body. */
  length?: number;
  keepAlive?: boolean;
}

export function postHead({ path = "/", length, keepAlive = false }: PostHead): string {
  return [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    length === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`,
    ...(keepAlive ? [] : ["Connection: close"]),
    "\r\n",
  ].join("\r\n");
}

export function post(body: string | Buffer, options: Omit<PostHead, "length"> = {}): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(postHead({ ...options, length: bytes.length })), bytes]);
}

export function callText(method: string, params: unknown, id: number = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

export function batchText(calls: readonly string[]): string {
  return `[${calls.join(",")}]`;
}
