import { once } from "node:events";
import { onTestFinished } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import type { ErrorObject } from "../../../../../src/server/jsonrpc/errors.ts";
import { Arrivals } from "../../events/arrivals.ts";

interface Notification {
  subscription: string;
  topic?: string;
  data?: unknown;
  error?: ErrorObject;
}

export interface Response {
  id: number | null;
  result?: unknown;
  error?: ErrorObject;
}

/** Returns the number of an event published by `Channel`. */
export const numberOf = ({ data }: Notification) => (data as { number: number }).number;

/** WebSocket client that separates responses from notifications; closed at the end of the test. */
export class Client {
  readonly socket: WebSocket;
  /** Raw messages. */
  readonly messages = new Arrivals<string>();
  readonly notifications = new Arrivals<Notification>();
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #answers = new Map<number, (response: Response) => void>();
  #lastId = 0;

  static async connect(url: string, options?: ClientOptions): Promise<Client> {
    const client = new Client(new WebSocket(url.replace("http", "ws"), options));
    onTestFinished(() => client.socket.terminate());
    await once(client.socket, "open");
    return client;
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.messages.end("The connection is closed.");
        this.notifications.end("The connection is closed.");
      });
    });
    socket.on("message", (data) => this.#receive(data.toString()));
  }

  call(method: string, ...params: unknown[]): Promise<Response> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.#answers.set(id, resolve);
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return promise;
  }

  async subscribe(...params: unknown[]): Promise<string> {
    const { result, error } = await this.call("subscribe", ...params);
    if (typeof result !== "string") throw new Error(`The subscription failed: ${JSON.stringify(error)}.`);
    return result;
  }

  #receive(text: string): void {
    this.messages.push(text);
    const message = JSON.parse(text);
    if (message.method === "subscription") this.notifications.push(message.params);
    else if (!Array.isArray(message)) this.#answers.get(message.id)?.(message);
  }
}
