import type { Timers } from "../../../async/timers.ts";

const BUCKET_MILLIS = 10_000;
const BUCKETS = 6;
/** The circuit opens at this many failures in a minute, if they are this share of all requests. */
const MIN_FAILURES = 3;
const MIN_FAILURE_SHARE = 0.2;
/** Consecutive successes that close the circuit. */
const MIN_SUCCESSES = 3;
/** Backoff between probes, doubled at each failure. */
const MIN_PROBE_MILLIS = 1000;
const MAX_PROBE_MILLIS = 30_000;

interface CircuitBreakerOptions {
  timers: Pick<Timers, "now">;
  /** Called when the circuit opens, with the failures and all requests of the last minute, and when it closes. */
  onOpen?: ((failures: number, requests: number) => void) | undefined;
  onClose?: (() => void) | undefined;
}

/**
 * Tracks failed requests to an upstream over a minute. While many fail, the circuit is open: the upstream is avoided,
 * except for probes.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  readonly #requests = new Array<number>(BUCKETS).fill(0);
  readonly #failures = new Array<number>(BUCKETS).fill(0);
  /** Number of the current bucket. */
  #bucket = 0;
  #requestCount = 0;
  #failureCount = 0;
  #isOpen = false;
  #successes = 0;
  #probeMillis = MIN_PROBE_MILLIS;
  #nextProbeAt = 0;
  /** True while the outcome of a probe is awaited. Other requests may have been sent before the circuit opened. */
  #isProbing = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if the circuit is open and the next request is a probe. */
  get isProbeDue(): boolean {
    return this.#isOpen && this.#options.timers.now() >= this.#nextProbeAt;
  }

  /** Share of failed requests in the last minute, in tenths. */
  get failureTenths(): number {
    if (this.#failureCount === 0) return 0;
    this.#expire();
    return this.#failureCount === 0 ? 0 : Math.floor((10 * this.#failureCount) / this.#requestCount);
  }

  /** Records that a request is sent, so that it is the only probe for a while. */
  recordRequest(): void {
    if (!this.isProbeDue) return;
    this.#isProbing = true;
    this.#nextProbeAt = this.#options.timers.now() + this.#probeMillis;
  }

  recordSuccess(): void {
    this.#count(0);
    if (!this.#isProbing) return;
    this.#isProbing = false;
    this.#probeMillis = MIN_PROBE_MILLIS;
    this.#nextProbeAt = this.#options.timers.now() + this.#probeMillis;
    if (++this.#successes >= MIN_SUCCESSES) this.#close();
  }

  recordFailure(): void {
    this.#count(1);
    this.#successes = 0;
    if (this.#isProbing) {
      this.#isProbing = false;
      this.#probeMillis = Math.min(2 * this.#probeMillis, MAX_PROBE_MILLIS);
      this.#nextProbeAt = this.#options.timers.now() + this.#probeMillis;
    } else if (
      !this.#isOpen &&
      this.#failureCount >= MIN_FAILURES &&
      this.#failureCount >= MIN_FAILURE_SHARE * this.#requestCount
    ) {
      this.#open();
    }
  }

  #open(): void {
    this.#isOpen = true;
    this.#probeMillis = MIN_PROBE_MILLIS;
    this.#nextProbeAt = this.#options.timers.now() + this.#probeMillis;
    this.#options.onOpen?.(this.#failureCount, this.#requestCount);
  }

  #close(): void {
    this.#isOpen = false;
    this.#successes = 0;
    this.#clear();
    this.#options.onClose?.();
  }

  #count(failures: 0 | 1): void {
    this.#expire();
    const index = this.#bucket % BUCKETS;
    this.#requests[index]!++;
    this.#requestCount++;
    this.#failures[index]! += failures;
    this.#failureCount += failures;
  }

  /** Drops buckets that are older than a minute. */
  #expire(): void {
    const bucket = Math.floor(this.#options.timers.now() / BUCKET_MILLIS);
    if (bucket - this.#bucket >= BUCKETS) this.#clear();
    else {
      for (let next = this.#bucket + 1; next <= bucket; next++) {
        const index = next % BUCKETS;
        this.#requestCount -= this.#requests[index]!;
        this.#failureCount -= this.#failures[index]!;
        this.#requests[index] = 0;
        this.#failures[index] = 0;
      }
    }
    this.#bucket = bucket;
  }

  #clear(): void {
    this.#requests.fill(0);
    this.#failures.fill(0);
    this.#requestCount = 0;
    this.#failureCount = 0;
  }
}
