import type { Timers } from "../../async/timers.ts";
import { ByteLru } from "../../collections/byte-lru.ts";
import { REVISION_PLACES } from "../../server/thread/protocol.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Conditions } from "../condition.ts";
import type { UpstreamResponse } from "../exchange.ts";
import { headersOfBody } from "./headers-of-body.ts";
import type { Lasting, WholeResponse } from "./lasting.ts";

interface MemoryCacheOptions {
  bytes: number;
  /** Its numbers are other ones whenever answers about the head, or about the status, may be. */
  revision: Int32Array;
  conditions: Pick<Conditions, "floor" | "rewinds">;
  facts: Pick<ChainFacts, "secondsPerSlot">;
  timers: Pick<Timers, "now">;
}

/** What held when an upstream was asked: an answer is kept only while it still holds. */
export interface Moment {
  readonly head: number;
  readonly status: number;
  readonly floor: number;
  readonly rewinds: number;
  readonly at: number;
  /** From when on upstreams have surely come to the head that they told of. */
  readonly settledAt: number;
}

interface Kept {
  /** Settled, so that whoever asks for it need not make one. */
  response: Promise<UpstreamResponse>;
  lasting: Lasting;
  since: Moment;
  until: number;
}

/** A larger answer than this part of the memory is not kept: it would drop too many others. */
const LARGEST_PART = 16;
/** About what an answer takes beside its body. */
const ENTRY_BYTES = 512;
/** An upstream that is restarted may have another version, or other settings. */
const FIXED_MILLIS = 180_000;
/** An upstream that is stuck does not go on telling that all is well. */
const STATUS_MILLIS = 12_000;
/** For so long after an upstream has told of a head, its answers may still be those of the one before. */
const SETTLING_MILLIS = 500;

/** Answers in the memory of this process. */
export class MemoryCache {
  /** A larger body is not kept. */
  readonly maxBodyBytes: number;
  readonly #options: MemoryCacheOptions;
  readonly #answers: ByteLru<Kept>;
  readonly #maxMillis: Readonly<Record<Lasting, number>>;
  #head: number;
  #settledAt = Number.NEGATIVE_INFINITY;

  constructor(options: MemoryCacheOptions) {
    this.#options = options;
    this.maxBodyBytes = Math.floor(options.bytes / LARGEST_PART);
    this.#answers = new ByteLru({ bytes: options.bytes });
    this.#head = Atomics.load(options.revision, REVISION_PLACES.head);
    const slotMillis = options.facts.secondsPerSlot * 1000;
    this.#maxMillis = {
      final: Number.POSITIVE_INFINITY,
      fixed: FIXED_MILLIS,
      head: slotMillis,
      status: Math.min(slotMillis, STATUS_MILLIS),
    };
  }

  get(key: string): Promise<UpstreamResponse> | undefined {
    const kept = this.#answers.get(key);
    if (kept === undefined) return undefined;
    if (this.#isTrue(kept)) return kept.response;
    this.#answers.delete(key);
    return undefined;
  }

  /** `since` is the moment before the upstream was asked. An answer about the head may tell itself that it is of the new one. */
  put(key: string, response: WholeResponse, lasting: Lasting, since: Moment, isOfNewHead = false): void {
    const { length } = response.body;
    if (length > this.maxBodyBytes) return;
    const headers = headersOfBody(response.headers);
    const kept = { ...response, headers, body: inMemoryOfItsOwn(response.body), kept: "memory" as const };
    const bytes = length + JSON.stringify(headers).length + ENTRY_BYTES;
    const mayBeEarly = lasting === "head" && !isOfNewHead && since.at < since.settledAt;
    const until = mayBeEarly ? since.settledAt : since.at + this.#maxMillis[lasting];
    this.#answers.set(key, { response: Promise.resolve(kept), lasting, since, until }, bytes);
  }

  moment(): Moment {
    const { revision, conditions, timers } = this.#options;
    const head = Atomics.load(revision, REVISION_PLACES.head);
    const at = timers.now();
    if (head !== this.#head) {
      this.#head = head;
      this.#settledAt = at + SETTLING_MILLIS;
    }
    return {
      head,
      status: Atomics.load(revision, REVISION_PLACES.status),
      floor: conditions.floor,
      rewinds: conditions.rewinds,
      at,
      settledAt: this.#settledAt,
    };
  }

  #isTrue({ lasting, since, until }: Kept): boolean {
    const { revision, conditions, timers } = this.#options;
    if (lasting === "final") return conditions.rewinds === since.rewinds;
    if (timers.now() >= until) return false;
    if (lasting === "fixed") return true;
    // Who has been told of a later head is told nothing of an earlier one.
    return Atomics.load(revision, REVISION_PLACES[lasting]) === since[lasting] && conditions.floor <= since.floor;
  }
}

/** A small body often lies in all that was read from a socket at once, which would be kept with it. */
function inMemoryOfItsOwn(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
