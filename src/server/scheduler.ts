import { setImmediate } from "node:timers";

/**
 * Kinds of work by descending priority: messages of another thread, requests, requests behind several others on the
 * same connection, delivery of events.
 */
const KINDS = ["thread", "request", "pipelined", "events"] as const;
export type WorkKind = (typeof KINDS)[number];

/** Time budget of one turn of the event loop. */
const TURN_MILLIS = 5;
/** Time budget while clients connect. Node accepts one connection per turn, so turns have to be short then. */
const ACCEPTING_TURN_MILLIS = 0.2;
/** A longer turn has parsed too much. */
const LONG_TURN_MILLIS = 2 * TURN_MILLIS;
/**
 * Longest delay of the next read after a long turn, so that a process that was suspended does not delay reads for as
 * long again.
 */
const MAX_READ_DELAY_MILLIS = 1000;
/** Sockets and bodies that are resumed per turn. */
const READERS_PER_TURN = 2;
/** Clients are considered connecting until this many turns have passed without a new connection. */
const QUIET_TURNS = 3;
/** One unit in this many is of a lower-priority kind, so that no kind starves. */
const UNITS_PER_ROUND = 4;

type Unit = () => void;

/**
 * Shares the turns of the event loop between all work of the servers. A unit of work runs at once while the turn has
 * time left; otherwise it waits in the queue of its kind.
 */
export class Scheduler {
  readonly #queues = new Map(KINDS.map((kind) => [kind, new Set<Unit>()]));
  /** Callbacks that resume reading from a new connection, or of a large body. */
  readonly #readers = new Set<Unit>();
  /** When this turn's readers were resumed; undefined if no reader was. */
  #readAt: number | undefined;
  /** The earliest time of the next read. */
  #nextReadAt = Number.NEGATIVE_INFINITY;
  readonly #now: () => number;
  /** When the budget of this turn is spent; undefined until something runs in it. */
  #turnEnds: number | undefined;
  /** True while a turn is running or due. */
  #isTurning = false;
  #unitsInRound = 0;
  #nextOther = 0;
  #quietTurns = QUIET_TURNS;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs the unit now or in a later turn. Units of a kind run in submission order. */
  run(kind: WorkKind, unit: Unit): void {
    const queue = this.#queues.get(kind)!;
    if (queue.size === 0 && this.hasTime) {
      unit();
    } else {
      queue.add(unit);
      this.#wake();
    }
  }

  /**
   * Calls `resume` now or in a later turn. Few readers are resumed per turn, because Node parses all that it has read
   * from a socket at once. After a turn that took too long, other work gets as much time before the next reader is
   * resumed, up to a second.
   */
  read(resume: Unit): void {
    this.#readers.add(resume);
    if (this.#readAt === undefined) this.#resumeReaders();
    this.#wake();
  }

  #resumeReaders(): void {
    const now = this.#now();
    const turnMillis = now - (this.#readAt ?? now);
    this.#readAt = undefined;
    if (turnMillis > LONG_TURN_MILLIS) this.#nextReadAt = now + Math.min(turnMillis, MAX_READ_DELAY_MILLIS);
    if (this.#readers.size === 0 || now < this.#nextReadAt) return;
    this.#readAt = now;
    for (let count = 0; count < READERS_PER_TURN; count++) takeFirst(this.#readers)?.();
  }

  /** True if the turn has time left. Always true on the first check of a turn. */
  get hasTime(): boolean {
    const now = this.#now();
    if (this.#turnEnds !== undefined) return now <= this.#turnEnds;
    this.#turnEnds = now + (this.#quietTurns < QUIET_TURNS ? ACCEPTING_TURN_MILLIS : TURN_MILLIS);
    this.#wake();
    return true;
  }

  /** Records that a client has connected. */
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
    this.#turnEnds = undefined;
    this.#resumeReaders();
    this.#goOn();
  };

  readonly #goOn = (): void => {
    const queue = this.#nextQueue();
    if (queue === undefined) {
      this.#isTurning = false;
      const isTurnUsed = this.#turnEnds !== undefined || this.#readAt !== undefined;
      if (isTurnUsed || this.#readers.size > 0 || this.#quietTurns < QUIET_TURNS) this.#wake();
    } else if (this.hasTime) {
      takeFirst(queue)?.();
      // Continues after the microtasks of the unit, which are most of its work.
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

/** The scheduler of this thread's event loop. */
export const scheduler = new Scheduler();
