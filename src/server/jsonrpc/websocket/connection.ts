import type { Socket } from "node:net";
import { inspect } from "node:util";
import type { RawData, WebSocket } from "ws";
import { unavailable } from "../../../errors/failure.ts";
import type { Logger } from "../../../log/logger.ts";
import type { AccessRights, RevocationReason } from "../../http/access/api-clients.ts";
import type { AccessRecord } from "../../http/access-log.ts";
import type { Deadline, DeadlineTimer } from "../../http/deadline.ts";
import { BudgetReservation, type ByteBudget, PIECE_OVERHEAD_BYTES } from "../../http/request/byte-budget.ts";
import type { Client } from "../../method-table.ts";
import { scheduler } from "../../scheduler.ts";
import { accessDenied, type ErrorObject, toErrorObject } from "../errors.ts";
import type { Execute } from "../execute.ts";
import { Outbox } from "./outbox.ts";
import { type SubscriptionCount, type SubscriptionLimits, Subscriptions } from "./subscriptions.ts";

export interface ConnectionLimits extends SubscriptionLimits {
  /** Maximum number of concurrent messages per connection. Reading pauses when the limit is reached. */
  runningMessages: number;
  /** Maximum number of bytes received for an incomplete message, including the overhead per packet. */
  incompleteBytes: number;
  /** Timeout for the closing handshake. */
  closeHandshakeMillis: number;
  /** How long to wait for an unresponsive client to read the reason for its disconnection. */
  disconnectMillis: number;
}

/** Creates the access log record for a message. */
export type MessageRecordFactory = () => AccessRecord;

interface ConnectionOptions {
  /** The underlying TCP socket. */
  socket: Socket;
  execute: Execute;
  record?: MessageRecordFactory | undefined;
  deadlines: DeadlineTimer;
  /** Budget for received messages. Their bytes are released after the response. */
  budget: ByteBudget;
  /** Budget for unread responses and events. */
  unread: ByteBudget;
  subscriptionCount: SubscriptionCount;
  rights: AccessRights;
  revocationReason: RevocationReason;
  /** Name of the client's API key. */
  key: string | undefined;
  logger: Logger;
  limits: ConnectionLimits;
}

interface Message {
  data: RawData;
  /** Number of bytes reserved in the budget. */
  bytes: number;
}

/** WebSocket close codes (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;
const POLICY_VIOLATION = 1008;

/** Header and mask of a control frame from a client. */
const CONTROL_FRAME_OVERHEAD_BYTES = 6;
/** Size of the largest control frame, whose payload has 125 bytes. */
const MAX_CONTROL_FRAME_BYTES = CONTROL_FRAME_OVERHEAD_BYTES + 125;

/** A connection with this many messages in progress counts as pipelining. */
const PIPELINED_FROM = 4;

/** No pong is sent while there are more unread bytes than this. */
const MAX_UNREAD_PONG_BYTES = 16 * 1024;

const UNRESPONSIVE = "The client neither read its messages nor answered a ping in time.";

/** A client's connection: calls, responses and subscriptions. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;
  readonly #outbox: Outbox;
  readonly #subscriptions: Subscriptions;
  readonly #closed: Promise<void>;
  readonly #running = new Set<Deadline>();
  /** Messages that have not been processed yet, in order of arrival. */
  readonly #queue: Message[] = [];
  /** True while the scheduler holds the next message. */
  #isScheduled = false;
  /** Number of bytes received since the last complete message, and their reservation in the budget. */
  #received = 0;
  #heldBytes = 0;
  #drained: PromiseWithResolvers<void> | undefined;
  #closing = false;
  /** True if the client has sent anything since the last check. */
  #isHeard = true;
  #flushesAtLastCheck = 0;
  /** True if the client had unread data at the last check. */
  #hadUnread = false;

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    const unread = new BudgetReservation(options.unread);
    this.#outbox = new Outbox(socket, unread);
    this.#subscriptions = new Subscriptions(this.#outbox, options.limits, options.subscriptionCount);
    this.#closed = new Promise((resolve) => {
      socket.once("close", resolve);
    });
    void this.#closed.then(() => {
      this.#subscriptions.closeAll();
      this.#releaseReservation();
      unread.releaseAll();
      this.#dropQueue();
      for (const deadline of this.#running) deadline.cancel();
    });
    options.socket.on("data", ({ length }: Buffer) => this.#countReceived(length));
    socket.on("message", (data) => {
      this.#isHeard = true;
      const bytes = this.#heldBytes;
      this.#received = 0;
      this.#heldBytes = 0;
      if (this.#closing) {
        options.budget.release(bytes);
      } else {
        this.#queue.push({ data, bytes });
        this.#scheduleNext();
        if (!this.#hasCapacity) socket.pause();
      }
    });
    socket.on("pong", (data) => {
      this.#isHeard = true;
      this.#countControlFrame(data);
    });
    // A client that sends pings without reading gets only a few pongs. Each pong proves that the node is alive.
    socket.on("ping", (data) => {
      this.#countControlFrame(data);
      if (socket.bufferedAmount < MAX_UNREAD_PONG_BYTES) socket.pong(data, false, ignore);
    });
    // On a protocol or limit violation, the socket closes itself with the matching code.
    socket.on("error", (error) => options.logger.debug("WebSocket connection failed", { error: error.message }));
  }

  get closed(): Promise<void> {
    return this.#closed;
  }

  /** Sends a keep-alive ping. Disconnects the client if it has neither sent nor read anything since the last check. */
  checkAlive(): void {
    if (this.#closing) return;
    const isReading = this.#outbox.flushes > this.#flushesAtLastCheck;
    const hasUnread = this.#socket.bufferedAmount > 0;
    const isAlive = isReading || (hasUnread ? !this.#hadUnread : this.#isHeard);
    if (!isAlive && !this.#isPausedForCalls) {
      this.#options.logger.debug("Disconnecting unresponsive WebSocket client");
      void this.#disconnect(UNRESPONSIVE, toErrorObject(unavailable(`Subscription ended. ${UNRESPONSIVE}`)));
      return;
    }
    this.#isHeard = false;
    this.#hadUnread = hasUnread;
    this.#flushesAtLastCheck = this.#outbox.flushes;
    this.#socket.ping();
  }

  /** Closes the connection if the client's access has been revoked. Returns true if it has. */
  closeIfRevoked(): boolean {
    const reason = this.#closing ? undefined : this.#options.revocationReason();
    if (reason !== undefined) void this.#disconnect(reason, accessDenied(`Subscription ended. ${reason}`));
    return reason !== undefined;
  }

  /** Waits for running calls, then closes the connection. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#subscriptions.closeAll();
    await this.#whenDrained();
    this.#socket.close(GOING_AWAY, "The node is shutting down.");
    await this.#closedWithin(this.#options.limits.closeHandshakeMillis);
  }

  /** Resolves when all messages have been answered or the client has disconnected. */
  async #whenDrained(): Promise<void> {
    if (this.#isIdle) return;
    this.#drained ??= Promise.withResolvers();
    await Promise.race([this.#drained.promise, this.#closed]);
  }

  get #isIdle(): boolean {
    return this.#running.size === 0 && this.#queue.length === 0;
  }

  /**
   * Disconnects the client with a reason. If the client has stalled, it receives the reason only if it resumes reading
   * in time.
   */
  async #disconnect(reason: string, subscriptionError: ErrorObject): Promise<void> {
    this.#closing = true;
    this.#dropQueue();
    this.#subscriptions.closeAllWithError(subscriptionError);
    this.#outbox.close(POLICY_VIOLATION, reason);
    await this.#closedWithin(this.#options.limits.disconnectMillis);
  }

  async #closedWithin(millis: number): Promise<void> {
    // The peer's close frame must be read.
    this.#socket.resume();
    const timeout = setTimeout(() => this.#socket.terminate(), millis);
    await this.#closed;
    clearTimeout(timeout);
  }

  /** True if reading is paused because of running calls. No pong can arrive while it is. */
  get #isPausedForCalls(): boolean {
    return this.#socket.isPaused && this.#socket.bufferedAmount === 0;
  }

  #countReceived(length: number): void {
    if (this.#closing || this.#socket.readyState !== this.#socket.OPEN) return;
    const bytes = length + PIECE_OVERHEAD_BYTES;
    if (!this.#options.budget.reserve(bytes)) {
      this.#closeWith("The memory limit for request bodies is reached.");
      return;
    }
    this.#received += length;
    this.#heldBytes += bytes;
    if (this.#heldBytes > this.#options.limits.incompleteBytes) {
      this.#closeWith("The incomplete message exceeds the size limit.");
    }
  }

  /**
   * Subtracts a control frame, which is not part of a message. Memory is released only when less than one control frame
   * remains, because even a small fragment retains the whole packet in which it arrived.
   */
  #countControlFrame({ length }: Buffer): void {
    this.#received = Math.max(0, this.#received - length - CONTROL_FRAME_OVERHEAD_BYTES);
    if (this.#received < MAX_CONTROL_FRAME_BYTES) {
      this.#options.budget.release(this.#heldBytes - this.#received);
      this.#heldBytes = this.#received;
    }
  }

  #releaseReservation(): void {
    this.#options.budget.release(this.#heldBytes);
    this.#received = 0;
    this.#heldBytes = 0;
  }

  #closeWith(reason: string): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#dropQueue();
    this.#socket.close(TRY_AGAIN_LATER, reason);
    void this.#closedWithin(this.#options.limits.closeHandshakeMillis);
  }

  /** Schedules the next message. The scheduler holds at most one message per connection. */
  #scheduleNext(): void {
    if (this.#isScheduled) return;
    if (this.#queue.length > 0 && this.#running.size < this.#options.limits.runningMessages) {
      const isFarAhead = this.#running.size + this.#queue.length > PIPELINED_FROM;
      this.#isScheduled = true;
      scheduler.run(isFarAhead ? "pipelined" : "request", this.#start);
    }
  }

  readonly #start = (): void => {
    this.#isScheduled = false;
    const message = this.#queue.shift();
    if (message === undefined) return;
    void this.#serve(message);
    this.#scheduleNext();
  };

  get #hasCapacity(): boolean {
    return this.#running.size + this.#queue.length < this.#options.limits.runningMessages;
  }

  #dropQueue(): void {
    for (const { bytes } of this.#queue.splice(0)) this.#options.budget.release(bytes);
  }

  async #serve({ data, bytes }: Message): Promise<void> {
    const { execute, logger, deadlines, budget } = this.#options;
    const deadline = deadlines.begin();
    this.#running.add(deadline);
    const started: string[] = [];
    const record = this.#options.record?.();
    if (record) {
      deadline.trace = {};
      record.setTrace(deadline.trace);
    }
    if (this.#options.key !== undefined) record?.setKey(this.#options.key);
    try {
      const response = await execute(data as Buffer, deadline, this.#callerOf(started), record);
      record?.setResponseHeaders(response?.headers);
      const sent = response && this.#outbox.sendResponse(response);
      if (response && !sent) this.#closeWith("The memory limit for unread responses is reached.");
      for (const id of started) this.#subscriptions.release(id);
      await sent;
    } catch (error) {
      logger.error("JSON-RPC message failed unexpectedly", { error: inspect(error) });
      // Part of the response may already have been sent, so the connection is closed.
      this.#socket.terminate();
    } finally {
      record?.endMessage();
      deadlines.end(deadline);
      budget.release(bytes);
      this.#running.delete(deadline);
      this.#scheduleNext();
      if (this.#hasCapacity) this.#socket.resume();
      if (this.#isIdle) this.#drained?.resolve();
    }
  }

  #callerOf(started: string[]): Client {
    return {
      subscribe: (feed) => {
        const id = this.#subscriptions.start(feed);
        started.push(id);
        return id;
      },
      unsubscribe: (id) => this.#subscriptions.close(id),
      ...this.#options.rights,
    };
  }
}

function ignore(): void {}
