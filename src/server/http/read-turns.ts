import type { Socket } from "node:net";

/** How long strangers may keep everybody else waiting in one turn of the event loop. */
const TURN_MILLIS = 5;
/** How many of those that are held back are read from again in a turn. */
const RELEASED_A_TURN = 8;
/** How many turns in a row may go by with nothing but the acceptance of connections. */
const ACCEPTING_TURNS = 100;

/**
 * Whom servers read from. In one turn of the event loop Node reads from every connection that has sent something, 64 KiB or
 * more from each, which may be a thousand requests. A connection is a stranger until a request on it is answered, and stays one
 * when it sends more than it gets answers to. Strangers are read from while there is time left in a turn; then all of them are
 * held back, and read from again a few in each turn. Nobody else is ever held back.
 */
class ReadTurns {
  /** Who cost something last stands last. */
  readonly #strangers = new Set<Socket>();
  /** Strangers that are not read from. */
  readonly #held = new Set<Socket>();
  /** Those that stay strangers. */
  readonly #suspects = new WeakSet<Socket>();
  /** When strangers first cost something in this turn. */
  #began: number | undefined;
  #isOver = false;
  #isEnding = false;
  /** Whether a connection was accepted in this turn. */
  #hasMet = false;
  #acceptingTurns = 0;

  meet(socket: Socket): void {
    this.#strangers.add(socket);
    this.#hasMet = true;
    // Behind what Node itself does with a new connection, which ends with reading from it.
    if (this.#held.size > 0) process.nextTick(() => this.#strangers.has(socket) && this.#hold(socket));
  }

  /** It has sent more than somebody does who waits for answers. */
  suspect(socket: Socket): void {
    if (this.#suspects.has(socket)) return;
    this.#suspects.add(socket);
    this.#strangers.add(socket);
  }

  /** A request is answered, and the connection has sent no other. */
  trust(socket: Socket): void {
    if (this.#strangers.has(socket) && !this.#suspects.has(socket)) this.forget(socket);
  }

  /** The connection is gone, or somebody else reads from it. */
  forget(socket: Socket): void {
    this.#strangers.delete(socket);
    this.#release(socket);
  }

  /** To be called whenever somebody has sent something that costs time. */
  spend(socket: Socket): void {
    if (!this.#strangers.delete(socket)) return;
    this.#strangers.add(socket);
    if (this.#isOver) return;
    if (this.#began === undefined) {
      this.#began = performance.now();
      this.#endTurnLater();
    } else if (performance.now() - this.#began > TURN_MILLIS) {
      this.#isOver = true;
      for (const stranger of this.#strangers) this.#hold(stranger);
    }
  }

  #hold(socket: Socket): void {
    // Who is paused for another reason must not be read from when its turn comes.
    if (this.#held.has(socket) || socket.isPaused()) return;
    this.#held.add(socket);
    stopReading(socket);
  }

  #release(socket: Socket): void {
    if (!this.#held.delete(socket)) return;
    socket.off("resume", pauseAgain);
    socket.resume();
  }

  #endTurnLater(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#isEnding = false;
    this.#isOver = false;
    this.#began = undefined;
    // Node accepts one connection a turn: those who wait for that may be others than those who cost so much.
    if (this.#hasMet && this.#acceptingTurns < ACCEPTING_TURNS) this.#acceptingTurns++;
    else this.#releaseSome();
    this.#hasMet = false;
    if (this.#held.size > 0) this.#endTurnLater();
  }

  #releaseSome(): void {
    this.#acceptingTurns = 0;
    let left = RELEASED_A_TURN;
    for (const socket of this.#strangers) {
      if (!this.#held.has(socket)) continue;
      this.#release(socket);
      if (--left === 0) return;
    }
  }
}

/** Pausing alone would not do: whoever takes a piece of a request makes Node read on. */
export function stopReading(socket: Socket): void {
  socket.on("resume", pauseAgain);
  socket.pause();
}

function pauseAgain(this: Socket): void {
  this.pause();
}

/** There is one event loop for all servers. */
export const readTurns = new ReadTurns();
