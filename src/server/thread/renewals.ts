import type { Dependence } from "../method-table.ts";
import type { ThreadOutbox } from "./outbox.ts";
import { REVISION_PLACES, type ToThread, type Validity } from "./protocol.ts";

/** Answers once more; what fails here fails for those who ask, too. */
type Answering = (validity: Validity) => Promise<void>;

interface Renewal {
  on: Exclude<Dependence, "nothing">;
  answer: Answering;
  /** Set for a list, which takes several turns of the event loop. The others are sent without waiting for it. */
  isList: boolean;
  /** With which number of the revision it was last answered. */
  revision: number | undefined;
  /** Whether an answer is being made. */
  isUnderway: boolean;
}

/** How many are renewed. */
const MAX_RENEWALS = 64;
/** What may be used up at once. A node that catches up changes its head hundreds of times a second. */
const MAX_ALLOWANCE_MS = 20;
const SHARE_OF_TIME = 1 / 20;

/**
 * Calls that are made over and over. They are answered again as soon as the answer is another one, before this thread goes on with
 * anything else: who asks next finds the answer in the thread of the servers, whatever this one is doing by then.
 */
export class Renewals {
  readonly #outbox: ThreadOutbox<ToThread>;
  readonly #revision: Int32Array;
  readonly #now: () => number;
  readonly #renewals = new Map<number, Renewal>();
  #isDue = false;
  #allowanceMs = MAX_ALLOWANCE_MS;
  #allowedAt: number;

  constructor(outbox: ThreadOutbox<ToThread>, revision: Int32Array, now: () => number = () => performance.now()) {
    this.#outbox = outbox;
    this.#revision = revision;
    this.#now = now;
    this.#allowedAt = now();
  }

  add(id: number, { on, isList, answer }: Pick<Renewal, "on" | "isList" | "answer">): void {
    if (this.#renewals.size < MAX_RENEWALS)
      this.#renewals.set(id, { on, isList, answer, revision: undefined, isUnderway: false });
  }

  delete(id: number): void {
    this.#renewals.delete(id);
  }

  clear(): void {
    this.#renewals.clear();
  }

  /** A number of the revision has changed. Who changed it is let come to an end first. */
  renewSoon(): void {
    if (this.#isDue || this.#renewals.size === 0) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#renew();
    });
  }

  #renew(): void {
    const began = this.#now();
    this.#allowanceMs = Math.min(MAX_ALLOWANCE_MS, this.#allowanceMs + (began - this.#allowedAt) * SHARE_OF_TIME);
    let underway = 1;
    const end = () => {
      if (--underway === 0) this.#outbox.flush();
    };
    for (const renewal of this.#renewals.values()) {
      if (this.#now() - began >= this.#allowanceMs) break;
      const { on, isList, answer } = renewal;
      const revision = Atomics.load(this.#revision, REVISION_PLACES[on]);
      if (renewal.revision === revision || renewal.isUnderway) continue;
      renewal.revision = revision;
      renewal.isUnderway = true;
      if (!isList) underway++;
      const onAnswered = () => {
        renewal.isUnderway = false;
        if (isList) this.#outbox.flush();
        else end();
        if (Atomics.load(this.#revision, REVISION_PLACES[on]) !== revision) this.renewSoon();
      };
      answer({ on, revision, isPreparedAhead: true }).then(onAnswered, onAnswered);
    }
    end();
    this.#allowedAt = this.#now();
    this.#allowanceMs -= this.#allowedAt - began;
  }
}
