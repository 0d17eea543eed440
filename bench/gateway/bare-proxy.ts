import { Child } from "../support/child.ts";
import type { BareProxyOrder, BareProxyReport } from "./bare-proxy-process.ts";

/** TCP proxy that only forwards bytes. */
export class BareProxy {
  readonly #child: Child;

  static async start(): Promise<BareProxy> {
    return new BareProxy((await Child.start("bare-proxy-process", import.meta.url)).child);
  }

  private constructor(child: Child) {
    this.#child = child;
  }

  /** Opens a port that forwards to the URL's port. Returns the URL with that port. */
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
