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
  readonly #onOver: (id: number, key: string) => void;
  readonly #now: () => number;
  readonly #byKey = new Map<string, RepeatedCall>();
  readonly #byId = new Map<number, RepeatedCall>();
  #last = 0;

  /** @param onOver is told when a call does not count as a repeated one any more */
  constructor(onOver: (id: number, key: string) => void, now: () => number = () => performance.now()) {
    this.#onOver = onOver;
    this.#now = now;
  }

  /** Notes the time of a call; returns whether it counts as repeated. */
  note(key: string): boolean {
    const call = this.#byKey.get(key);
    if (call) call.askedAt = this.#now();
    return call !== undefined;
  }

  /** Takes a call for a repeated one, and gives it an id, which is negative; undefined when it is one already, or there are too many. */
  add(key: string): number | undefined {
    if (this.#byKey.has(key)) return undefined;
    // Those that always fail are never heard of again.
    if (this.#byKey.size >= MAX_REPEATED) for (const call of this.#byKey.values()) this.#isOver(call);
    if (this.#byKey.size >= MAX_REPEATED) return undefined;
    const call = { id: --this.#last, key, askedAt: this.#now() };
    this.#byKey.set(key, call);
    this.#byId.set(call.id, call);
    return call.id;
  }

  /** By what the answer to the call is kept; undefined when nobody has asked for it for long. */
  keyOf(id: number): string | undefined {
    const call = this.#byId.get(id);
    return call === undefined || this.#isOver(call) ? undefined : call.key;
  }

  #isOver({ id, key, askedAt }: RepeatedCall): boolean {
    if (this.#now() - askedAt < REPEATED_WITHIN_MS) return false;
    this.#byId.delete(id);
    this.#byKey.delete(key);
    this.#onOver(id, key);
    return true;
  }
}
