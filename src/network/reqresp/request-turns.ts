import { RequestError } from "./request-error.ts";

interface Line {
  active: number;
  waiting: Set<() => void>;
}

/** Lets so many requests of a kind run at a time and the others wait, first come, first served. */
export class RequestTurns {
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
      throw new RequestError("disconnected", "Too many requests to the peer are waiting already.");
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
