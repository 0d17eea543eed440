import { Child } from "../support/child.ts";
import type { BareProxyOrder, BareProxyReport } from "./bare-proxy-process.ts";

/** What stands between a client and a server and only passes bytes on: what it costs, every proxy does. */
export class BareProxy {
  readonly #child: Child;

  static async start(): Promise<BareProxy> {
    return new BareProxy((await Child.start("bare-proxy-process", import.meta.url)).child);
  }

  private constructor(child: Child) {
    this.#child = child;
  }

  /** The same URL at a port that leads to its own. */
  async urlBefore(url: string): Promise<string> {
    const before = new URL(url);
    const order: BareProxyOrder = { port: Number(before.port) };
    before.port = String((await this.#child.ask<BareProxyReport>(order)).port);
    return before.href;
  }

  end(): Promise<void> {
    return this.#child.end();
  }
}
