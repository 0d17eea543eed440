/** How many calls are taken for repeated ones at a time. */
const MAX_REPEATED = 64;
/** A call that nobody has made for so long is not taken for one that is repeated. */
const REPEATED_WITHIN_MS = 30_000;

interface RepeatedCall {
  id: number;
  key: string;
  askedAt: number;
}

/** What is asked over and over, so that the main thread is to answer it before somebody asks again. */
export class RepeatedCalls {
  readonly #now: () => number;
  readonly #byKey = new Map<string, RepeatedCall>();
  readonly #byId = new Map<number, RepeatedCall>();
  #last = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Somebody asks. */
  note(key: string): void {
    const call = this.#byKey.get(key);
    if (call) call.askedAt = this.#now();
  }

  /** Takes a call for a repeated one, and gives it an id, which is negative; undefined when it is one already, or there are too many. */
  add(key: string): number | undefined {
    if (this.#byKey.has(key) || this.#byKey.size >= MAX_REPEATED) return undefined;
    const call = { id: --this.#last, key, askedAt: this.#now() };
    this.#byKey.set(key, call);
    this.#byId.set(call.id, call);
    return call.id;
  }

  /** By what the answer to the call is kept; undefined when nobody has asked for it for long, whereupon it counts no more. */
  keyOf(id: number): string | undefined {
    const call = this.#byId.get(id);
    if (call === undefined || this.#now() - call.askedAt < REPEATED_WITHIN_MS) return call?.key;
    this.#byId.delete(id);
    this.#byKey.delete(call.key);
    return undefined;
  }
}
