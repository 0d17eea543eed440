import { Child } from "../support/child.ts";
import type { LoadOrder, LoadReport } from "./load-process.ts";

/** Load generator in its own process. */
export class Load {
  readonly #child: Child;

  static async start(): Promise<Load> {
    return new Load((await Child.start("load-process", import.meta.url)).child);
  }

  private constructor(child: Child) {
    this.#child = child;
  }

  run(order: LoadOrder): Promise<LoadReport> {
    return this.#child.ask(order);
  }

  end(): Promise<void> {
    return this.#child.end();
  }
}

/** Formats a raw HTTP request. */
export function rpcRequest(method: string, params: readonly unknown[]): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

export function restRequest(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n`;
}
