import { setImmediate } from "node:timers";
import { FifoQueue } from "../collections/fifo-queue.ts";

/**
 * Kinds of work in descending order of priority: messages from another thread, requests, pipelined requests behind
 * several others, and event delivery.
 */
const KINDS = ["thread", "request", "pipelined", "events"] as const;
export type WorkKind = (typeof KINDS)[number];

/** Time budget for one turn of the event loop. */
const TURN_MILLIS = 5;
/** Time budget while clients are connecting. Node accepts only one connection per turn, so turns must be short. */
const ACCEPTING_TURN_MILLIS = 0.2;
/** If a turn takes longer, too much was parsed at once. */
const LONG_TURN_MILLIS = 2 * TURN_MILLIS;
/**
 * Maximum delay of the next read after a long turn. Without this maximum, reads after a suspension of the process would
 * be delayed for as long as the suspension lasted.
 */
const MAX_READ_DELAY_MILLIS = 1000;
/** Number of sockets and bodies resumed per turn. */
const READERS_PER_TURN = 2;
/** Clients count as connecting until this many turns have passed without a new connection. */
const QUIET_TURNS = 3;
/** Out of this many units, one is of a lower-priority kind, so that no kind starves. */
const UNITS_PER_ROUND = 4;

type Unit = () => void;

/**
 * Schedules the work of all servers in the event loop. A unit of work runs immediately if the current turn has time
 * left, and otherwise waits in the queue for its kind.
 */
export class Scheduler {
  readonly #queues: Readonly<Record<WorkKind, FifoQueue<Unit>>> = {
    thread: new FifoQueue(),
    request: new FifoQueue(),
    pipelined: new FifoQueue(),
    events: new FifoQueue(),
  };
  /** Callbacks that resume reading a new connection or a large body. */
  readonly #readers = new Set<Unit>();
  /** When this turn's readers were resumed. Undefined if none were. */
  #readAt: number | undefined;
  /** Earliest time of the next read. */
  #nextReadAt = Number.NEGATIVE_INFINITY;
  readonly #now: () => number;
  /** When this turn's budget is used up. Undefined before the first unit. */
  #turnEnds: number | undefined;
  /** True if a turn is running or due. */
  #isTurning = false;
  #unitsInRound = 0;
  #nextOther = 0;
  #quietTurns = QUIET_TURNS;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs the unit now or in a later turn. Units of the same kind run in the order of submission. */
  run(kind: WorkKind, unit: Unit): void {
    const queue = this.#queues[kind];
    if (queue.size === 0 && this.hasTime) {
      unit();
    } else {
      queue.push(unit);
      this.#wake();
    }
  }

  /**
   * Calls `resume` now or in a later turn. Only a few readers are resumed per turn, because Node parses everything it
   * has read from a socket at once. After a long turn, other work gets the same amount of time, up to a second, before
   * the next reader is resumed.
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
    let count = 0;
    for (const reader of this.#readers) {
      this.#readers.delete(reader);
      reader();
      if (++count === READERS_PER_TURN) return;
    }
  }

  /** True if the current turn has time left. Always true when checked for the first time in a turn. */
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
      queue.shift()?.();
      // Continues after the unit's microtasks, which do most of its work.
      queueMicrotask(this.#goOn);
    } else {
      setImmediate(this.#turn);
    }
  };

  #nextQueue(): FifoQueue<Unit> | undefined {
    let first: FifoQueue<Unit> | undefined;
    let hasOthers = false;
    for (const kind of KINDS) {
      const queue = this.#queues[kind];
      if (queue.size === 0) continue;
      if (first !== undefined) hasOthers = true;
      first ??= queue;
    }
    if (!hasOthers) return first;
    const waiting = KINDS.map((kind) => this.#queues[kind]).filter(({ size }) => size > 0);
    if (++this.#unitsInRound < UNITS_PER_ROUND) return waiting[0];
    this.#unitsInRound = 0;
    return waiting[1 + (this.#nextOther++ % (waiting.length - 1))];
  }
}

/** The scheduler of this thread's event loop. */
export const scheduler = new Scheduler();
