import { setImmediate } from "node:timers";

/** How long work of one kind may keep everybody else waiting in a turn of the event loop. */
const TURN_MILLIS = 3;
/** The same while many connect. */
const ARRIVALS_MILLIS = 0.1;
/** After so many turns in which nobody has connected, nobody is thought to wait for that. */
const QUIET_TURNS = 3;
/** While clients connect, one turn of so many is as others are. */
const COMMON_TURN_EVERY = 100;

/** Clients that connect. Node accepts one a turn, so that turns are to be short while others wait for that. */
class Arrivals {
  #count = 0;
  #quietTurns = 0;
  #turns = 0;

  /** A client has connected. */
  note(): void {
    this.#quietTurns = 0;
    if (++this.#count === 1) setImmediate(this.#endTurn);
  }

  /** Whether others are thought to wait, because some have come one after the other, and everything else is to give way in this turn. */
  get comeFirst(): boolean {
    return this.#count > 1 && this.#turns % COMMON_TURN_EVERY !== 0;
  }

  readonly #endTurn = (): void => {
    this.#turns++;
    if (++this.#quietTurns > QUIET_TURNS) this.#count = 0;
    else setImmediate(this.#endTurn);
  };
}

/** There is one event loop for all servers. */
export const arrivals = new Arrivals();

/** What work of one kind, of which there may be any amount, takes of each turn of the event loop. */
export class TurnShare {
  #ends: number | undefined;

  /** Whether the rest of the work has to wait for another turn. What is done first in a turn never has to. */
  get isOver(): boolean {
    const now = performance.now();
    if (this.#ends !== undefined) return now > this.#ends;
    this.#ends = now + (arrivals.comeFirst ? ARRIVALS_MILLIS : TURN_MILLIS);
    setImmediate(() => {
      this.#ends = undefined;
    });
    return false;
  }
}
