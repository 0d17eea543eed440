import type { Socket } from "node:net";
import { inspect } from "node:util";
import type { RawData, WebSocket } from "ws";
import type { Logger } from "../../../log/logger.ts";
import type { AccessRecord } from "../../http/access-log.ts";
import type { Deadline, Deadlines } from "../../http/deadline.ts";
import { BudgetShare, type ByteBudget, PIECE_OVERHEAD_BYTES } from "../../http/exchanges.ts";
import type { Client } from "../../method-table.ts";
import { scheduler } from "../../scheduler.ts";
import type { Execute } from "../execute.ts";
import { Outbox } from "./outbox.ts";
import { type SubscriptionCount, type SubscriptionLimits, Subscriptions } from "./subscriptions.ts";

export interface ConnectionLimits extends SubscriptionLimits {
  /** How many messages of a connection are worked on at once; more are read when there is room again. */
  runningMessages: number;
  /** How much may come before a message is complete, with what each piece costs. */
  incompleteBytes: number;
  /** How long either side may take to take leave of the other. */
  leaveMillis: number;
  /** How long a client that shows no sign of life may take to read why it is cut off. */
  lastWordsMillis: number;
}

export type RecordMessage = (socket: Socket) => AccessRecord;

interface ConnectionOptions {
  /** Below the protocol. */
  socket: Socket;
  execute: Execute;
  record?: RecordMessage | undefined;
  deadlines: Deadlines;
  /** For what has been received of messages that are not answered yet. */
  budget: ByteBudget;
  /** For what is not read yet of answers and events. */
  unread: ByteBudget;
  subscriptionCount: SubscriptionCount;
  /** Why methods of a class are not served to the client. */
  refusal: Client["refusal"];
  logger: Logger;
  limits: ConnectionLimits;
}

interface Message {
  data: RawData;
  /** What it takes of the budget. */
  bytes: number;
}

/** WebSocket close codes (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;
const POLICY_VIOLATION = 1008;

/** Of a ping or pong of a client: the header and the mask. */
const CONTROL_FRAME_OVERHEAD_BYTES = 6;

/** A connection with more messages under way counts as one that sends ahead. */
const SENT_AHEAD = 4;

/** Up to so much that a client has not read its pings are answered. */
const UNREAD_PONG_BYTES = 16 * 1024;

const NO_SIGN_OF_LIFE = "The client neither read what was sent to it nor answered a ping in time.";

/** One client: its calls, their answers and its subscriptions. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;
  readonly #outbox: Outbox;
  readonly #subscriptions: Subscriptions;
  readonly #closed: Promise<void>;
  readonly #running = new Set<Deadline>();
  /** In the order in which they came. */
  readonly #waiting: Message[] = [];
  /** Bytes that have come since the last message was complete, and what they take of the budget. */
  #received = 0;
  #heldBytes = 0;
  #allAnswered: PromiseWithResolvers<void> | undefined;
  #closing = false;
  /** Whether anything was heard since the last look. */
  #heard = true;
  #flushesAtLastLook = 0;
  /** Whether there was something left to read at the last look. */
  #wasOwed = false;

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    const unread = new BudgetShare(options.unread);
    this.#outbox = new Outbox(socket, unread);
    this.#subscriptions = new Subscriptions(this.#outbox, options.limits, options.subscriptionCount);
    this.#closed = new Promise((resolve) => {
      socket.once("close", resolve);
    });
    void this.#closed.then(() => {
      this.#subscriptions.close();
      this.#releaseHeld();
      unread.giveBackAll();
      this.#dropWaiting();
      for (const deadline of this.#running) deadline.abandon();
    });
    options.socket.on("data", ({ length }: Buffer) => this.#count(length));
    socket.on("message", (data) => {
      this.#heard = true;
      const bytes = this.#heldBytes;
      this.#received = 0;
      this.#heldBytes = 0;
      if (this.#closing) {
        options.budget.giveBack(bytes);
      } else {
        this.#waiting.push({ data, bytes });
        this.#startLater();
        if (!this.#hasRoom) socket.pause();
      }
    });
    socket.on("pong", (data) => {
      this.#heard = true;
      this.#countControlFrame(data);
    });
    // A client that pings without reading gets only some of the answers; any of them tells it that the node is there.
    socket.on("ping", (data) => {
      this.#countControlFrame(data);
      if (socket.bufferedAmount < UNREAD_PONG_BYTES) socket.pong(data, false, ignore);
    });
    // A message that breaks the protocol or a limit; the socket is closed with the fitting code by itself.
    socket.on("error", (error) => options.logger.debug("A WebSocket connection failed.", { error: error.message }));
  }

  get closed(): Promise<void> {
    return this.#closed;
  }

  /**
   * Asks for a sign of life; a client that has shown none since the last time is cut off. Who has something to read shows
   * it by reading.
   */
  check(): void {
    if (this.#closing) return;
    const isReading = this.#outbox.flushes > this.#flushesAtLastLook;
    const isOwed = this.#socket.bufferedAmount > 0;
    const isAlive = isReading || (isOwed ? !this.#wasOwed : this.#heard);
    if (!isAlive && !this.#isWaitingForCalls) {
      this.#options.logger.debug("A WebSocket client that reads nothing, or is silent, is cut off.");
      void this.#cut();
      return;
    }
    this.#heard = false;
    this.#wasOwed = isOwed;
    this.#flushesAtLastLook = this.#outbox.flushes;
    this.#socket.ping();
  }

  /** Finishes what runs, then takes leave. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#subscriptions.close();
    await this.#untilAllAnswered();
    this.#socket.close(GOING_AWAY, "The node is shutting down.");
    await this.#closedWithin(this.#options.limits.leaveMillis);
  }

  /** Or until nobody is there who could be answered. */
  async #untilAllAnswered(): Promise<void> {
    if (this.#isAllAnswered) return;
    this.#allAnswered ??= Promise.withResolvers();
    await Promise.race([this.#allAnswered.promise, this.#closed]);
  }

  get #isAllAnswered(): boolean {
    return this.#running.size === 0 && this.#waiting.length === 0;
  }

  /** A client that only stood still, and reads on in time, learns from the last of what it reads why nothing more comes. */
  async #cut(): Promise<void> {
    this.#closing = true;
    this.#dropWaiting();
    this.#subscriptions.closeBecause(NO_SIGN_OF_LIFE);
    this.#outbox.close(POLICY_VIOLATION, NO_SIGN_OF_LIFE);
    await this.#closedWithin(this.#options.limits.lastWordsMillis);
  }

  async #closedWithin(millis: number): Promise<void> {
    // The other side's close frame has to be read.
    this.#socket.resume();
    const impatience = setTimeout(() => this.#socket.terminate(), millis);
    await this.#closed;
    clearTimeout(impatience);
  }

  /** The server does not read then, so that it cannot hear signs of life either. */
  get #isWaitingForCalls(): boolean {
    return this.#socket.isPaused && this.#socket.bufferedAmount === 0;
  }

  #count(length: number): void {
    if (this.#closing || this.#socket.readyState !== this.#socket.OPEN) return;
    const bytes = length + PIECE_OVERHEAD_BYTES;
    if (!this.#options.budget.take(bytes)) {
      this.#giveUp("The node holds as much of other requests as it can.");
      return;
    }
    this.#received += length;
    this.#heldBytes += bytes;
    if (this.#heldBytes > this.#options.limits.incompleteBytes) {
      this.#giveUp("With a message that is not complete more has come than belongs to any.");
    }
  }

  /** Pings and pongs are no part of a message. Where nothing else has come, nothing is held. */
  #countControlFrame({ length }: Buffer): void {
    const bytes = Math.min(length + CONTROL_FRAME_OVERHEAD_BYTES, this.#received);
    this.#received -= bytes;
    if (this.#received === 0) {
      this.#releaseHeld();
    } else {
      this.#heldBytes -= bytes;
      this.#options.budget.giveBack(bytes);
    }
  }

  #releaseHeld(): void {
    this.#options.budget.giveBack(this.#heldBytes);
    this.#received = 0;
    this.#heldBytes = 0;
  }

  #giveUp(reason: string): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#dropWaiting();
    this.#socket.close(TRY_AGAIN_LATER, reason);
    void this.#closedWithin(this.#options.limits.leaveMillis);
  }

  /** Has the scheduler start the next message; of each connection, one waits in its queue. */
  #startLater(): void {
    if (this.#waiting.length > 0 && this.#running.size < this.#options.limits.runningMessages) {
      const isFarAhead = this.#running.size + this.#waiting.length > SENT_AHEAD;
      scheduler.run(isFarAhead ? "pipelined" : "request", this.#start);
    }
  }

  readonly #start = (): void => {
    const message = this.#waiting.shift();
    if (message === undefined) return;
    void this.#serve(message);
    this.#startLater();
  };

  get #hasRoom(): boolean {
    return this.#running.size + this.#waiting.length < this.#options.limits.runningMessages;
  }

  #dropWaiting(): void {
    for (const { bytes } of this.#waiting.splice(0)) this.#options.budget.giveBack(bytes);
  }

  async #serve({ data, bytes }: Message): Promise<void> {
    const { execute, logger, deadlines, budget } = this.#options;
    const deadline = deadlines.begin();
    this.#running.add(deadline);
    const started: string[] = [];
    const record = this.#options.record?.(this.#options.socket);
    try {
      const response = await execute(data as Buffer, deadline, this.#callerOf(started), record);
      record?.answeredWith(response?.headers);
      const sent = response && this.#outbox.respond(response);
      if (response && !sent) this.#giveUp("Clients have left as many answers unread as the node can hold.");
      for (const id of started) this.#subscriptions.release(id);
      await sent;
    } catch (error) {
      logger.error("A JSON-RPC message could not be answered as it should.", { error: inspect(error) });
      // Part of the answer may be written; to cut the connection is all that is left to tell the client.
      this.#socket.terminate();
    } finally {
      record?.endMessage();
      deadlines.end(deadline);
      budget.giveBack(bytes);
      this.#running.delete(deadline);
      this.#startLater();
      if (this.#hasRoom) this.#socket.resume();
      if (this.#isAllAnswered) this.#allAnswered?.resolve();
    }
  }

  #callerOf(started: string[]): Client {
    return {
      subscribe: (feed) => {
        const id = this.#subscriptions.start(feed);
        started.push(id);
        return id;
      },
      unsubscribe: (id) => this.#subscriptions.end(id),
      refusal: this.#options.refusal,
    };
  }
}

function ignore(): void {}
