import type { Socket } from "node:net";
import { scheduler } from "../scheduler.ts";

/** How long strangers may keep everybody else waiting in one turn of the event loop. */
const TURN_MILLIS = 5;
/** How many go on in a turn of those at the door that have sent something short, and of those that are held back with little or much. */
const RELEASED_A_TURN = 4;
/** Up to this, what a new client sends is taken for one request, and costs little to look at. */
const SHORT_BYTES = 4096;
/** How many may wait at the door: the first bytes of each are held, up to 128 KiB. */
const AT_THE_DOOR = 512;

/**
 * Whom servers read from. In one turn of the event loop Node reads from every connection that has sent something, 64 KiB or
 * more from each, which may be a thousand requests. A connection is a stranger until a request on it is answered, and stays one
 * when it sends more than it gets answers to. Strangers are read from while there is time left in a turn; then all of them are
 * held back, and read from again a few in each turn. Nobody else is ever held back.
 *
 * Who connects while others are held back waits at the door, where nothing is done but to see how much it sends: who asks one short
 * question is let in at once, before all who cost more.
 */
class ReadTurns {
  /** Who cost something last stands last. */
  readonly #strangers = new Set<Socket>();
  /** Strangers that are not read from. */
  readonly #held = new Set<Socket>();
  /** The same of those that have sent little until now. */
  readonly #heldShort = new Set<Socket>();
  /** New connections that are not served yet, in the order in which they came, with what begins to serve them. */
  readonly #door = new Map<Socket, () => void>();
  /** Those of them that have sent something short. */
  readonly #short = new Set<Socket>();
  /** Those that stay strangers. */
  readonly #suspects = new WeakSet<Socket>();
  /** When strangers first cost something in this turn. */
  #began: number | undefined;
  #isOver = false;
  #isEnding = false;

  /** `serve` begins to read requests from a new connection. */
  meet(socket: Socket, serve: () => void): void {
    scheduler.noteConnection();
    if (this.#waiting === 0) {
      this.#welcome(socket, serve);
    } else if (this.#door.size < AT_THE_DOOR) {
      this.#door.set(socket, serve);
      socket.on("error", ignore).once("readable", () => this.#look(socket));
      this.#endTurnLater();
    } else {
      this.#welcome(socket, serve);
      // Behind what Node itself does with a new connection, which ends with reading from it.
      process.nextTick(() => this.#strangers.has(socket) && this.#hold(socket));
    }
  }

  #look(socket: Socket): void {
    if (!this.#door.has(socket)) return;
    // It has left without a word.
    if (socket.readableLength === 0) socket.destroy();
    else if (socket.readableLength <= SHORT_BYTES) this.#short.add(socket);
  }

  #welcome(socket: Socket, serve: () => void): void {
    this.#strangers.add(socket);
    serve();
  }

  #letIn(socket: Socket): void {
    const serve = this.#door.get(socket)!;
    this.#leaveDoor(socket);
    socket.off("error", ignore).removeAllListeners("readable");
    this.#welcome(socket, serve);
  }

  #leaveDoor(socket: Socket): void {
    this.#door.delete(socket);
    this.#short.delete(socket);
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
    this.#leaveDoor(socket);
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

  get #waiting(): number {
    return this.#held.size + this.#heldShort.size + this.#door.size;
  }

  #hold(socket: Socket): void {
    // Who is paused, for this reason or another one, must not be read from when its turn comes.
    if (socket.isPaused()) return;
    (socket.bytesRead > SHORT_BYTES ? this.#held : this.#heldShort).add(socket);
    stopReading(socket);
  }

  #release(socket: Socket): void {
    if (!this.#held.delete(socket) && !this.#heldShort.delete(socket)) return;
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
    for (const socket of firstOf(this.#short)) this.#letIn(socket);
    for (const socket of firstOf(this.#heldShort)) this.#release(socket);
    // Those who wait to be accepted may be others than those who cost so much.
    if (!scheduler.isAccepting) this.#releaseSome();
    if (this.#waiting > 0) this.#endTurnLater();
  }

  #releaseSome(): void {
    // One, because what it has sent is read already, and cannot be held back.
    const [first] = this.#door.keys();
    if (first) this.#letIn(first);
    for (const socket of firstOf(this.#held)) this.#release(socket);
  }
}

/** Those whose turn it is; what they are taken from may change meanwhile. */
function firstOf(sockets: Iterable<Socket>): Socket[] {
  const taken: Socket[] = [];
  for (const socket of sockets) {
    if (taken.push(socket) === RELEASED_A_TURN) break;
  }
  return taken;
}

function ignore(): void {}

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
