import { Child } from "../support/child.ts";
import type { PlainProxyOrder, PlainProxyReport } from "./plain-proxy-process.ts";

/** Minimal JSON-RPC proxy in front of a node's REST server. */
export class PlainProxy {
  readonly #child: Child;
  readonly port: number;

  static async start(restPort: number): Promise<PlainProxy> {
    const { child } = await Child.start("plain-proxy-process", import.meta.url);
    const order: PlainProxyOrder = { port: restPort };
    return new PlainProxy(child, (await child.ask<PlainProxyReport>(order)).port);
  }

  private constructor(child: Child, port: number) {
    this.#child = child;
    this.port = port;
  }

  async cpuSeconds(): Promise<number> {
    return (await this.#child.ask<PlainProxyReport>({})).cpuSeconds;
  }

  end(): Promise<void> {
    return this.#child.end();
  }
}
