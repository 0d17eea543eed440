import type { Timers } from "../../async/timers.ts";
import { PeerBuckets, type Rate } from "../token-bucket.ts";
import { RequestError } from "./errors.ts";
import { type ProtocolName, protocolId } from "./protocols.ts";

interface Line {
  active: number;
  waiting: Set<() => void>;
}

/** Lets so many requests of a kind run at a time and the others wait, first come, first served. */
export class RequestQueue {
  readonly #concurrency: number;
  readonly #maxWaiting: number;
  readonly #lines = new Map<string, Line>();

  constructor(concurrency: number, maxWaiting: number) {
    this.#concurrency = concurrency;
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves when it is the request's turn, with the function that ends the turn. */
  async take(kind: string, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw givenUp(signal);
    const line = this.#lines.get(kind) ?? { active: 0, waiting: new Set() };
    this.#lines.set(kind, line);
    if (line.active < this.#concurrency) line.active++;
    else await this.#wait(line, signal);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#end(kind, line);
    };
  }

  #wait(line: Line, signal: AbortSignal): Promise<void> {
    if (line.waiting.size >= this.#maxWaiting) {
      throw new RequestError("disconnected", "Too many requests are waiting already.");
    }
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = (): void => {
        line.waiting.delete(go);
        reject(givenUp(signal));
      };
      line.waiting.add(go);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** The place goes to the one that waits longest. */
  #end(kind: string, line: Line): void {
    const [next] = line.waiting;
    if (next !== undefined) {
      line.waiting.delete(next);
      next();
      return;
    }
    line.active--;
    if (line.active === 0) this.#lines.delete(kind);
  }
}

/** Of a request that nobody waits for any more. */
export function givenUp(signal: AbortSignal): RequestError {
  return new RequestError("disconnected", "The request was given up.", { cause: signal.reason });
}

/**
 * What nodes grant that refuse, or drop, whoever asks too often: the quotas that Lighthouse set and others took over, less a
 * twentieth, because requests may arrive closer together than they were sent.
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
};
const MARGIN = 0.95;

/**
 * A node that speaks this was written after the rule that rate limits withhold chunks instead of refusing requests
 * (phase0/p2p-interface.md, Responding side); how many it answers is then for itself to decide.
 */
const WITHHOLDING_SINCE = protocolId({ name: "status", version: 2 });

/** How fast a peer may be asked. */
export class RequestQuotas {
  readonly #buckets: PeerBuckets;

  constructor(timers: Pick<Timers, "now">) {
    this.#buckets = new PeerBuckets(timers);
  }

  /** Milliseconds to wait before the request; `cost` is the number of things asked for. */
  delay(peerId: string, name: ProtocolName, cost: number, peerProtocols: readonly string[]): number {
    if (peerProtocols.includes(WITHHOLDING_SINCE)) return 0;
    return this.#buckets.bucket(peerId, name, rateOf(name)).take(cost);
  }
}

function rateOf(name: ProtocolName): Rate {
  const { count, seconds } = QUOTAS[name];
  return { burst: Math.max(1, Math.floor(count * MARGIN)), perSecond: (count * MARGIN) / seconds };
}
