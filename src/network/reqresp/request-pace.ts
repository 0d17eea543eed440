import { PeerBuckets } from "../rates/peer-buckets.ts";
import type { Now, Rate } from "../rates/token-bucket.ts";
import { type ProtocolName, protocolId } from "./protocols.ts";

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
};
const MARGIN = 0.95;

/**
 * A node that speaks this was written after the rule that rate limits withhold chunks instead of refusing requests
 * (phase0/p2p-interface.md, Responding side); how many it answers is then for itself to decide.
 */
const WITHHOLDING_SINCE = protocolId({ name: "status", version: 2 });

/** How fast a peer may be asked. */
export class RequestPace {
  readonly #buckets: PeerBuckets;

  constructor(now: Now) {
    this.#buckets = new PeerBuckets(now);
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
