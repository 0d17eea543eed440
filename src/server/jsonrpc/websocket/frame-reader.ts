import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { FrameSource, FrameTurns } from "./frame-turns.ts";

/** What is read at first, and after each message: most calls whole, but not hundreds of messages of one byte. */
const FIRST_BYTES = 256;
const MOST_BYTES = 64 * 1024;

interface FrameReaderOptions {
  webSocket: WebSocket;
  /** Below it. */
  socket: Socket;
  turns: FrameTurns;
  /** So many bytes have come. */
  onArrived(bytes: number): void;
  /** Some of them are read, and all that they say is told. */
  onRead(): void;
}

/** Has a WebSocket given what its client sends piece by piece, in its turns. */
export class FrameReader implements FrameSource {
  readonly #socket: Socket;
  readonly #turns: FrameTurns;
  readonly #onArrived: (bytes: number) => void;
  readonly #onRead: () => void;
  #unread = 0;
  /** How much is read next: more and more, as long as nothing comes of it. */
  #pieceBytes = FIRST_BYTES;
  #isPaused = false;

  constructor({ webSocket, socket, turns, onArrived, onRead }: FrameReaderOptions) {
    this.#socket = socket;
    this.#turns = turns;
    this.#onArrived = onArrived;
    this.#onRead = onRead;
    const beginAnew = () => {
      this.#pieceBytes = FIRST_BYTES;
    };
    webSocket.on("message", beginAnew).on("ping", beginAnew).on("pong", beginAnew);
    // A stream with such a listener does not flow; whatever is read of it then goes to the WebSocket.
    socket.on("readable", () => this.#look());
    // Before the WebSocket does, which would go through all of it at once, for nobody.
    socket.prependOnceListener("close", () => {
      turns.forget(this);
      socket.read();
    });
  }

  get unread(): number {
    return this.#unread;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
    this.#turns.forget(this);
  }

  resume(): void {
    this.#isPaused = false;
    this.#look();
  }

  readSome(): boolean {
    const bytes = Math.min(this.#unread, this.#pieceBytes);
    this.#pieceBytes = Math.min(this.#pieceBytes * 2, MOST_BYTES);
    this.#unread -= bytes;
    this.#socket.read(bytes);
    this.#onRead();
    return this.#hasMore();
  }

  #look(): void {
    if (this.#hasMore()) this.#turns.add(this);
  }

  #hasMore(): boolean {
    const arrived = this.#socket.readableLength - this.#unread;
    this.#unread += arrived;
    if (arrived > 0) this.#onArrived(arrived);
    // A stream ends only when somebody reads beyond its last byte.
    if (this.#unread === 0) this.#socket.read(0);
    return this.#unread > 0 && !this.#isPaused;
  }
}
