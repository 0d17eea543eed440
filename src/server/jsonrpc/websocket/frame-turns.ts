import { setImmediate } from "node:timers";
import { TurnShare } from "../../turn-share.ts";

/** Reads what one client has sent. */
export interface FrameSource {
  /** How much there is to read. */
  readonly unread: number;
  /** Reads some of it, and gives whether it has more to read now. */
  readSome(): boolean;
}

/** Up to this, what a client has sent is taken for one message. */
const SHORT_BYTES = 1024;
/** After so many of those who have sent little somebody is read from who has sent much. */
const SHORT_IN_A_ROW = 4;

/** Whom WebSocket messages are read from while there is time for it in a turn of the event loop: who has sent one comes before who has sent many. */
export class FrameTurns {
  readonly #short = new Set<FrameSource>();
  readonly #long = new Set<FrameSource>();
  readonly #share = new TurnShare();
  #inARow = 0;
  #isGoingOn = false;

  /** It has something to read. */
  add(source: FrameSource): void {
    if (this.#long.has(source)) return;
    if (source.unread > SHORT_BYTES) {
      this.#short.delete(source);
      this.#long.add(source);
    } else {
      this.#short.add(source);
    }
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    this.#goOn();
  }

  forget(source: FrameSource): void {
    this.#short.delete(source);
    this.#long.delete(source);
  }

  readonly #goOn = (): void => {
    if (this.#short.size + this.#long.size === 0) {
      this.#isGoingOn = false;
    } else if (this.#share.isOver) {
      setImmediate(this.#goOn);
    } else {
      const next = this.#next();
      this.forget(next);
      // Who has sent more than that has to wait for the others, however little is left.
      if (next.readSome()) this.#long.add(next);
      // Behind what the messages have set off, which takes most of their time.
      queueMicrotask(this.#goOn);
    }
  };

  #next(): FrameSource {
    const isTurnOfLong = this.#long.size > 0 && (this.#short.size === 0 || this.#inARow === SHORT_IN_A_ROW);
    this.#inARow = isTurnOfLong ? 0 : Math.min(this.#inARow + 1, SHORT_IN_A_ROW);
    const [next] = isTurnOfLong ? this.#long : this.#short;
    return next!;
  }
}
