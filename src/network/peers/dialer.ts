import { multiaddr } from "@multiformats/multiaddr";
import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";

const MAX_DIALS = 8;
const DIAL_MS = 10_000;

export interface DialTarget {
  /** What the dial is known by: the peer's id, or the address when the id is not known. */
  key: string;
  addresses: readonly string[];
}

interface DialerParts {
  host: Pick<Host, "dial">;
  logger: Logger;
  /** Called when a dial began and when it ended; `peerId` is who answered. */
  began(target: DialTarget): void;
  succeeded(target: DialTarget, peerId: string): void;
  failed(target: DialTarget): void;
}

/** Opens connections, a few at a time. */
export class Dialer {
  readonly #parts: DialerParts;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(parts: DialerParts) {
    this.#parts = parts;
  }

  get active(): number {
    return this.#underWay.size;
  }

  /** How many more dials can begin. */
  get free(): number {
    return this.#closing.signal.aborted ? 0 : MAX_DIALS - this.#underWay.size;
  }

  isDialing(key: string): boolean {
    return this.#underWay.has(key);
  }

  dial(target: DialTarget): void {
    if (this.free <= 0 || this.isDialing(target.key)) return;
    this.#underWay.set(target.key, this.#dial(target));
  }

  /** Ends the dials that are under way. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The node is shutting down."));
    await Promise.all(this.#underWay.values());
  }

  async #dial(target: DialTarget): Promise<void> {
    const { host, logger, began, succeeded, failed } = this.#parts;
    began(target);
    // A dial that fails at once must not end before the caller knows of it.
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
      logger.debug("A peer could not be dialled", { peer: target.key, error: String(error) });
    }
    this.#underWay.delete(target.key);
    if (peerId === undefined) failed(target);
    else succeeded(target, peerId);
  }
}
