import type { Socket } from "node:net";
import { inspect } from "node:util";
import type { RawData } from "ws";
import type { Logger } from "../../../log/logger.ts";
import type { AccessRecord } from "../../http/access-log.ts";
import type { Deadline, Deadlines } from "../../http/deadline.ts";
import { BudgetShare, type ByteBudget, PIECE_OVERHEAD_BYTES } from "../../http/exchanges.ts";
import type { Client } from "../../method-table.ts";
import type { Execute } from "../execute.ts";
import { FrameReader } from "./frame-reader.ts";
import type { FrameTurns } from "./frame-turns.ts";
import { heldFrames } from "./held-frames.ts";
import type { LeavingSocket } from "./leaving-socket.ts";
import type { MessageLine } from "./message-line.ts";
import { Outbox } from "./outbox.ts";
import { type SubscriptionCount, type SubscriptionLimits, Subscriptions } from "./subscriptions.ts";

export interface ConnectionLimits extends SubscriptionLimits {
  /** How many messages of a connection are worked on or wait for that; the next ones are read when there is room again. */
  runningMessages: number;
  /** How many of them are worked on at once whatever others send. */
  ownMessages: number;
  /** How much may come before a message is complete, with pings and what each piece costs. */
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
  /** For reading. */
  turns: FrameTurns;
  /** For messages beyond those that are worked on in any case. */
  line: MessageLine;
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

/** Up to so much that a client has not read its pings are answered. */
const UNREAD_PONG_BYTES = 16 * 1024;

const NO_SIGN_OF_LIFE = "The client neither read what was sent to it nor answered a ping in time.";

/** One client: its calls, their answers and its subscriptions. */
export class Connection {
  readonly #socket: LeavingSocket;
  readonly #options: ConnectionOptions;
  readonly #reader: FrameReader;
  readonly #outbox: Outbox;
  readonly #subscriptions: Subscriptions;
  readonly #closed: Promise<void>;
  readonly #running = new Set<Deadline>();
  /** In the order in which they came. */
  readonly #waiting: Message[] = [];
  /** How many run that stand in no line. */
  #ownRunning = 0;
  /** Received since the last message was complete: what a client sends in fragments, the node has to hold. */
  #incompleteBytes = 0;
  #allAnswered: PromiseWithResolvers<void> | undefined;
  #closing = false;
  /** Whether the client has taken leave, or broken the protocol: what comes after that is not read. */
  #hasLeft = false;
  /** Whether anything was heard since the last look. */
  #heard = true;
  #flushesAtLastLook = 0;
  /** Whether there was something left to read at the last look. */
  #wasOwed = false;

  constructor(socket: LeavingSocket, options: ConnectionOptions) {
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
      options.budget.giveBack(this.#incompleteBytes);
      this.#incompleteBytes = 0;
      unread.giveBackAll();
      this.#dropWaiting();
      for (const deadline of this.#running) deadline.abandon();
    });
    this.#reader = new FrameReader({
      webSocket: socket,
      socket: options.socket,
      turns: options.turns,
      onArrived: (bytes) => this.#count(bytes + PIECE_OVERHEAD_BYTES),
      onRead: () => this.#settle(),
    });
    socket.on("message", (data) => {
      this.#heard = true;
      const bytes = Math.max(this.#incompleteBytes - this.#reader.unread, 0);
      this.#incompleteBytes -= bytes;
      if (this.#closing) {
        options.budget.giveBack(bytes);
      } else {
        this.#waiting.push({ data, bytes });
        this.#goOn();
        if (!this.#hasRoom) this.#reader.pause();
      }
    });
    socket.onLeave = (leave) => this.#answerAndLeave(leave);
    socket.on("pong", () => {
      this.#heard = true;
    });
    // Who pings without reading gets no more answers than it has room for: a client knows by any of them that the node is there.
    socket.on("ping", (data) => {
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
    this.#socket.closeAtOnce(GOING_AWAY, "The node is shutting down.");
    await this.#closedWithin(this.#options.limits.leaveMillis);
  }

  async #answerAndLeave(leave: () => void): Promise<void> {
    this.#hasLeft = true;
    this.#subscriptions.close();
    const impatience = setTimeout(leave, this.#options.limits.leaveMillis);
    await this.#untilAllAnswered();
    clearTimeout(impatience);
    leave();
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
    // Without reading one would not hear the other side's leave.
    this.#reader.resume();
    const impatience = setTimeout(() => this.#socket.terminate(), millis);
    await this.#closed;
    clearTimeout(impatience);
  }

  /** The server does not read then, so that it cannot hear signs of life either. */
  get #isWaitingForCalls(): boolean {
    return this.#reader.isPaused && this.#socket.bufferedAmount === 0;
  }

  #count(bytes: number): void {
    // What comes after an end is not held.
    if (this.#hasLeft || this.#socket.readyState !== this.#socket.OPEN) return;
    if (!this.#options.budget.take(bytes)) {
      this.#giveUp("The node holds as much of other requests as it can.");
      return;
    }
    this.#incompleteBytes += bytes;
    if (this.#incompleteBytes > this.#options.limits.incompleteBytes) {
      this.#giveUp("With a message that is not complete more has come than belongs to any.");
    }
  }

  /** Pings and pongs are gone when they are read, and no part of a message. */
  #settle(): void {
    const held = heldFrames(this.#socket);
    if (held === undefined) return;
    const surplus = this.#incompleteBytes - this.#reader.unread - held - PIECE_OVERHEAD_BYTES;
    if (surplus <= 0) return;
    this.#incompleteBytes -= surplus;
    this.#options.budget.giveBack(surplus);
  }

  #giveUp(reason: string): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#dropWaiting();
    this.#socket.closeAtOnce(TRY_AGAIN_LATER, reason);
    void this.#closedWithin(this.#options.limits.leaveMillis);
  }

  /** Begins with as many of the messages that wait as may run. */
  readonly #goOn = (): void => {
    const { limits, line } = this.#options;
    if (this.#waiting.length === 0 || !line.hasTime(this.#goOn)) return;
    const isOwn = this.#ownRunning < limits.ownMessages;
    if (!isOwn && !line.enter(this.#goOn)) return;
    void this.#serve(this.#waiting.shift()!, isOwn);
    // Behind what this one has set off, which takes most of its time.
    if (this.#waiting.length > 0) queueMicrotask(this.#goOn);
  };

  get #hasRoom(): boolean {
    return this.#running.size + this.#waiting.length < this.#options.limits.runningMessages;
  }

  #dropWaiting(): void {
    this.#options.line.forget(this.#goOn);
    for (const { bytes } of this.#waiting.splice(0)) this.#options.budget.giveBack(bytes);
  }

  async #serve({ data, bytes }: Message, isOwn: boolean): Promise<void> {
    const { execute, logger, line, deadlines, budget } = this.#options;
    const deadline = deadlines.begin();
    this.#running.add(deadline);
    if (isOwn) this.#ownRunning++;
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
      if (isOwn) this.#ownRunning--;
      else line.leave();
      this.#goOn();
      if (this.#hasRoom) this.#reader.resume();
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
