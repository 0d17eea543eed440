import { setImmediate } from "node:timers";

/**
 * Kinds of work, in the order in which they come: handling messages of another thread, starting a WebSocket message, starting one of a
 * connection that has several under way, delivering events.
 */
const KINDS = ["thread", "message", "pipelined", "events"] as const;
export type WorkKind = (typeof KINDS)[number];

/** Time that scheduled work may take in one turn of the event loop. */
const TURN_MILLIS = 5;
/** The same while clients connect. Node accepts one connection a turn, so that turns have to be short then. */
const ACCEPTING_TURN_MILLIS = 0.5;
/** After this many turns without a new connection, none is expected. */
const QUIET_TURNS = 3;
/** While clients connect, one turn of this many is as long as others. */
const LONG_TURN_EVERY = 100;
/** Of this many units that run in a row, one is of another kind than the first that waits. */
const UNITS_PER_ROUND = 4;

type Unit = () => void;

/**
 * Shares the turns of the event loop between all work of the servers. A unit of work runs at once while there is time left in the
 * turn; otherwise it waits in the queue of its kind. No kind starves.
 */
export class Scheduler {
  readonly #queues = new Map(KINDS.map((kind) => [kind, new Set<Unit>()]));
  readonly #now: () => number;
  /** When the time of this turn is over; undefined until something runs in it. */
  #turnEnds: number | undefined;
  /** Whether a turn of waiting units is under way or about to begin. */
  #isTurning = false;
  #unitsInRound = 0;
  #nextOther = 0;
  #quietTurns = QUIET_TURNS;
  #turns = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs the unit now or in a later turn. Waiting units of a kind run in their order. */
  run(kind: WorkKind, unit: Unit): void {
    const queue = this.#queues.get(kind)!;
    if (queue.size === 0 && this.hasTime) {
      unit();
    } else {
      queue.add(unit);
      this.#wake();
    }
  }

  /** Whether work may go on in this turn. The first question in a turn is always answered with true. */
  get hasTime(): boolean {
    const now = this.#now();
    if (this.#turnEnds !== undefined) return now <= this.#turnEnds;
    this.#turnEnds = now + (this.isAccepting ? ACCEPTING_TURN_MILLIS : TURN_MILLIS);
    this.#wake();
    return true;
  }

  /** Whether clients connect, so that other work gives way in this turn. */
  get isAccepting(): boolean {
    return this.#quietTurns < QUIET_TURNS && this.#turns % LONG_TURN_EVERY !== 0;
  }

  /** To be called for each new connection. */
  noteConnection(): void {
    this.#quietTurns = 0;
    this.#wake();
  }

  #wake(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    if (this.#quietTurns < QUIET_TURNS) this.#quietTurns++;
    this.#turns++;
    this.#turnEnds = undefined;
    this.#goOn();
  };

  readonly #goOn = (): void => {
    const queue = this.#nextQueue();
    if (queue === undefined) {
      this.#isTurning = false;
      // The next turn has time again.
      if (this.#turnEnds !== undefined || this.#quietTurns < QUIET_TURNS) this.#wake();
    } else if (this.hasTime) {
      takeFirst(queue)?.();
      // Behind what the unit has set off, which takes most of its time.
      queueMicrotask(this.#goOn);
    } else {
      setImmediate(this.#turn);
    }
  };

  #nextQueue(): Set<Unit> | undefined {
    const waiting = [...this.#queues.values()].filter(({ size }) => size > 0);
    if (waiting.length < 2) return waiting[0];
    if (++this.#unitsInRound < UNITS_PER_ROUND) return waiting[0];
    this.#unitsInRound = 0;
    return waiting[1 + (this.#nextOther++ % (waiting.length - 1))];
  }
}

function takeFirst(units: Set<Unit>): Unit | undefined {
  const [first] = units;
  if (first) units.delete(first);
  return first;
}

/** There is one event loop for all servers of a thread. */
export const scheduler = new Scheduler();
