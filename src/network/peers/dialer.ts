import { multiaddr } from "@multiformats/multiaddr";
import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";

const MAX_DIALS = 8;
const DIAL_MS = 10_000;

/** A peer to dial, and its addresses. */
export interface DialTarget {
  /** Identifies the dial by peer id, or by address if the id is unknown. */
  key: string;
  addresses: readonly string[];
}

interface DialerParts {
  host: Pick<Host, "dial">;
  logger: Logger;
  /**
   * Called when a dial starts. When the dial ends, either `succeeded`, with the id of the peer that answered, or
   * `failed` is called.
   */
  started(target: DialTarget): void;
  succeeded(target: DialTarget, peerId: string): void;
  failed(target: DialTarget): void;
}

/** Dials peers with limited concurrency. */
export class Dialer {
  readonly #parts: DialerParts;
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(parts: DialerParts) {
    this.#parts = parts;
  }

  get active(): number {
    return this.#inFlight.size;
  }

  /** Number of dials that can be started now. */
  get free(): number {
    return this.#closing.signal.aborted ? 0 : MAX_DIALS - this.#inFlight.size;
  }

  isDialing(key: string): boolean {
    return this.#inFlight.has(key);
  }

  dial(target: DialTarget): void {
    if (this.free <= 0 || this.isDialing(target.key)) return;
    this.#inFlight.set(target.key, this.#dial(target));
  }

  /** Aborts dials in progress. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The node is shutting down."));
    await Promise.all(this.#inFlight.values());
  }

  async #dial(target: DialTarget): Promise<void> {
    const { host, logger, started, succeeded, failed } = this.#parts;
    started(target);
    // Even a dial that fails synchronously must not settle before it is registered.
    await Promise.resolve();
    let peerId: string | undefined;
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(DIAL_MS)]);
      const connection = await host.dial(
        target.addresses.map((address) => multiaddr(address)),
        { signal },
      );
      peerId = connection.remotePeer.toString();
    } catch (error) {
      logger.debug("Could not dial peer", { peer: target.key, error: String(error) });
    }
    this.#inFlight.delete(target.key);
    if (peerId === undefined) failed(target);
    else succeeded(target, peerId);
  }
}
