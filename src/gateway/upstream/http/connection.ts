import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { giveBackBuffer, takeBuffer } from "../../../json/buffer-pool.ts";
import { HttpError, ResponseParser, type ResponseSink } from "./response-parser.ts";

/** Where an upstream listens. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** A request as it is written. */
export interface RequestBytes {
  /** In latin1, with the empty line behind it. */
  readonly head: string;
  readonly body: Buffer | undefined;
}

/** Whoever waits for the answer to a request. After an end or an error nothing more is told. */
export interface ResponseHandler extends ResponseSink {
  /** The request goes out on this connection. */
  onSent(connection: Connection): void;
  onEnd(): void;
  /** An `HttpError`, or what the system says. */
  onError(error: Error): void;
}

/** Who keeps the connections. */
interface ConnectionOwner {
  /** An answer has ended, and the connection can be used again. */
  onFree(connection: Connection): void;
  /**
   * It was closed before anything of an answer came, and it had been idle before: the upstream may have closed it while the request was
   * on its way, and says nothing by that.
   */
  onUnheard(request: RequestBytes, handler: ResponseHandler, patience: number): void;
  onClosed(connection: Connection): void;
}

const CONNECT_MILLIS = 3000;
/** How long an answer that has begun may go on with nothing of it coming. */
const BODY_MILLIS = 15_000;

/**
 * All connections read small answers into the same memory, out of which they are copied before the next one reads: a buffer for
 * each reading would cost more than the copy.
 */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** A piece of a long body below this is copied; above it, the buffer that it was read into is passed on. */
const COPIED_BELOW_BYTES = 16 * 1024;

/** A body below this is written behind its head in one piece. */
const JOINED_BELOW_BYTES = 16 * 1024;

/** Instead of a time: it has sent something since anybody has looked. */
const SPOKEN = -1;

/** A connection to an upstream, for one request at a time. */
export class Connection {
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser = new ResponseParser();
  #handler: ResponseHandler | undefined;
  /** What is sent as soon as there is a connection. */
  #waiting: RequestBytes | undefined;
  /** What was sent after it had been idle, until something of the answer comes. */
  #unheard: RequestBytes | undefined;
  /** Whether there was an answer on it before. */
  #isUsed = false;
  #isConnected = false;
  #isPaused = false;
  #error: Error | undefined;
  /** Whether a long body comes, for which it reads into memory of its own. */
  #isStreaming = false;
  #own: Buffer | undefined;
  /** How long it may be silent, and since when it is, as far as anybody has looked. */
  #patience = 0;
  #silentSince = 0;

  constructor({ host, port, isSecure }: Target, owner: ConnectionOwner) {
    this.#owner = owner;
    const onread = {
      buffer: () => this.#bufferToRead(),
      callback: (count: number, buffer: Uint8Array) => this.#read(count, buffer as Buffer),
    };
    const options = { host, port, noDelay: true, onread };
    // An address is no name that a certificate is shown for.
    const secure = { ...options, servername: isIP(host) === 0 ? host : "", ALPNProtocols: ["http/1.1"] };
    this.#socket = isSecure ? connectTls(secure) : connectTcp(options);
    const late = setTimeout(() => this.fail(new HttpError("did not take the connection in time")), CONNECT_MILLIS);
    this.#socket.once(isSecure ? "secureConnect" : "connect", () => {
      clearTimeout(late);
      this.#isConnected = true;
      this.#write();
    });
    this.#socket.once("end", () => this.#onEnd());
    this.#socket.on("error", (error) => {
      this.#error = error;
    });
    this.#socket.once("close", () => {
      clearTimeout(late);
      this.#lose(this.#error ?? new HttpError("closed the connection"));
      this.#owner.onClosed(this);
    });
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** How long it may be idle before it is better not used any more. */
  get idleMillis(): number {
    return this.#parser.idleMillis;
  }

  /** The answer has to begin within `patience`. */
  send(request: RequestBytes, handler: ResponseHandler, { now, patience }: { now: number; patience: number }): void {
    this.#handler = handler;
    this.#waiting = request;
    if (this.#isUsed) this.#unheard = request;
    this.#patience = patience;
    this.#silentSince = now;
    if (this.#isConnected) this.#write();
  }

  /** To be called now and then: ends it when an answer does not go on. */
  checkSilence(now: number): void {
    if (this.#handler === undefined) return;
    if (this.#silentSince === SPOKEN || this.#isPaused) this.#silentSince = now;
    else if (now - this.#silentSince > this.#patience) this.fail(new HttpError("did not go on in time"));
  }

  /** A body has begun that is too long to be held: it is read in larger pieces. */
  stream(): void {
    this.#isStreaming = true;
  }

  /** What `onBody` was given, in memory that stays as it is. */
  keep(bytes: Buffer): Buffer {
    const own = this.#own;
    if (own === undefined || bytes.buffer !== own.buffer || bytes.length < COPIED_BELOW_BYTES)
      return Buffer.from(bytes);
    this.#own = undefined;
    return bytes;
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Whoever waits for an answer is told nothing more. */
  destroy(): void {
    this.#handler = undefined;
    this.#waiting = undefined;
    this.#unheard = undefined;
    this.#isStreaming = false;
    this.#socket.destroy();
    this.#giveBackOwn();
  }

  /** The same, but whoever waits is told why. */
  fail(error: Error): void {
    const handler = this.#handler;
    this.destroy();
    handler?.onError(error);
  }

  #lose(error: Error): void {
    const handler = this.#handler;
    const request = this.#unheard;
    if (handler === undefined || request === undefined) {
      this.fail(error);
      return;
    }
    this.destroy();
    this.#owner.onUnheard(request, handler, this.#patience);
  }

  #write(): void {
    const handler = this.#handler;
    const request = this.#waiting;
    if (handler === undefined || request === undefined) return;
    this.#waiting = undefined;
    this.#parser.begin(handler);
    handler.onSent(this);
    // It may have been given up meanwhile.
    if (this.#handler !== handler) return;
    const { head, body } = request;
    if (body === undefined) this.#socket.write(head, "latin1");
    else if (body.length < JOINED_BELOW_BYTES) this.#socket.write(Buffer.concat([Buffer.from(head, "latin1"), body]));
    else {
      this.#socket.cork();
      this.#socket.write(head, "latin1");
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  /** Node asks for it before it reads for the first time, and after every reading. */
  #bufferToRead(): Buffer {
    if (this.#isStreaming) {
      this.#own ??= takeBuffer();
      return this.#own;
    }
    this.#giveBackOwn();
    return shared;
  }

  #giveBackOwn(): void {
    if (this.#own) giveBackBuffer(this.#own);
    this.#own = undefined;
  }

  /** Gives whether to read on. */
  #read(count: number, buffer: Buffer): boolean {
    this.#silentSince = SPOKEN;
    this.#unheard = undefined;
    this.#patience = BODY_MILLIS;
    const handler = this.#handler;
    try {
      const read = this.#parser.read(buffer.subarray(0, count));
      if (handler === undefined) throw new HttpError("said something that it was not asked for");
      if (this.#handler === handler && this.#parser.isComplete) this.#complete(handler, read === count);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      this.fail(error);
    }
    return !this.#isPaused;
  }

  #complete(handler: ResponseHandler, isAll: boolean): void {
    this.#handler = undefined;
    this.#isUsed = true;
    this.#isStreaming = false;
    if (this.#isPaused) this.resume();
    // What is still being sent, or has come beyond the answer, would be taken for a part of the next one.
    const canBeUsed = this.#parser.keepsAlive && isAll && this.#socket.writableLength === 0;
    if (canBeUsed) this.#owner.onFree(this);
    else this.destroy();
    handler.onEnd();
  }

  /** The upstream sends nothing more. */
  #onEnd(): void {
    const handler = this.#handler;
    if (handler && this.#parser.endsWithConnection) this.#complete(handler, false);
    else this.#lose(new HttpError("closed the connection"));
  }
}
