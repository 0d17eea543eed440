import { Semaphore } from "../../async/semaphore.ts";
import type { Timers } from "../../async/timers.ts";
import type { Rate } from "../../async/token-bucket.ts";
import { PeerBuckets } from "../peer-buckets.ts";
import { RequestError } from "./errors.ts";
import { type ProtocolName, protocolId } from "./protocols.ts";

/** Limits the number of concurrent requests of each kind. Further requests wait in FIFO order. */
export class RequestQueue {
  readonly #concurrency: number;
  readonly #maxWaiting: number;
  readonly #slots = new Map<string, Semaphore>();

  constructor(concurrency: number, maxWaiting: number) {
    this.#concurrency = concurrency;
    this.#maxWaiting = maxWaiting;
  }

  /** Waits for a slot and returns a function that releases it. */
  async take(kind: string, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw abortedError(signal);
    const slots = this.#slots.get(kind) ?? new Semaphore(this.#concurrency);
    this.#slots.set(kind, slots);
    if (!slots.tryAcquire()) {
      if (slots.waiting >= this.#maxWaiting) throw new RequestError("disconnected", "Too many requests are queued.");
      await slots.wait(signal).catch(() => {
        throw abortedError(signal);
      });
    }
    let released = false;
    return () => {
      if (released) return;
      released = true;
      slots.release();
      if (slots.active === 0) this.#slots.delete(kind);
    };
  }
}

/** Returns the error for an aborted request. */
export function abortedError(signal: AbortSignal): RequestError {
  return new RequestError("disconnected", "The request was aborted.", { cause: signal.reason });
}

/**
 * Rate limits of peers that refuse requests or disconnect when a limit is exceeded. These are Lighthouse's quotas,
 * which other clients have adopted.
 */
const QUOTAS: Record<ProtocolName, { count: number; seconds: number }> = {
  status: { count: 5, seconds: 15 },
  goodbye: { count: 1, seconds: 10 },
  ping: { count: 2, seconds: 10 },
  metadata: { count: 2, seconds: 5 },
  beacon_blocks_by_range: { count: 1024, seconds: 10 },
  beacon_blocks_by_root: { count: 128, seconds: 10 },
  beacon_blocks_by_head: { count: 128, seconds: 10 },
  blob_sidecars_by_range: { count: 896, seconds: 10 },
  blob_sidecars_by_root: { count: 896, seconds: 10 },
  data_column_sidecars_by_range: { count: 16384, seconds: 10 },
  data_column_sidecars_by_root: { count: 16384, seconds: 10 },
  // Not known yet; as for the blocks that had the payloads before.
  execution_payload_envelopes_by_range: { count: 1024, seconds: 10 },
  execution_payload_envelopes_by_root: { count: 128, seconds: 10 },
};
/** Requests may arrive at shorter intervals than they were sent. */
const MARGIN = 0.95;

/**
 * Peers that support this protocol delay chunks instead of refusing requests (phase0/p2p-interface.md, Responding
 * side), so they need no limit here.
 */
const DELAYING_PROTOCOL = protocolId({ name: "status", version: 2 });

/** Limits the rate of outbound requests to the peers' quotas. */
export class RequestQuotas {
  readonly #buckets: PeerBuckets;

  constructor(timers: Pick<Timers, "now">) {
    this.#buckets = new PeerBuckets(timers);
  }

  /** Returns the number of milliseconds to wait before sending the request. `cost` is the number of requested items. */
  delay(peerId: string, name: ProtocolName, cost: number, peerProtocols: readonly string[]): number {
    if (peerProtocols.includes(DELAYING_PROTOCOL)) return 0;
    return this.#buckets.bucket(peerId, name, rateOf(name)).take(cost);
  }
}

function rateOf(name: ProtocolName): Rate {
  const { count, seconds } = QUOTAS[name];
  return { burst: Math.max(1, Math.floor(count * MARGIN)), perSecond: (count * MARGIN) / seconds };
}
