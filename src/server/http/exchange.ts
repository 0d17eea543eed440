import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { scheduler } from "../scheduler.ts";
import type { AccessRecord } from "./access-log.ts";
import type { Deadline } from "./deadline.ts";
import type { ByteBudget } from "./request/byte-budget.ts";

/** Unread bodies up to this size are discarded. For larger ones, the connection is closed. */
const MAX_DISCARDED_BYTES = 1024 * 1024;

/**
 * Returns true if the client is waiting for 100 Continue (RFC 9110, section 10.1.1). Node rejects all other
 * expectations.
 */
export function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === "1.1";
}

function maxBodyBytes(req: IncomingMessage): number {
  // A client waiting for 100 Continue may never send its body.
  if (req.headers["transfer-encoding"] !== undefined || expectsContinue(req)) return Number.POSITIVE_INFINITY;
  return Number(req.headers["content-length"] ?? 0);
}

/** Memory limits shared by all exchanges on a server. */
export interface MemoryBudgets {
  readonly requestBytes: ByteBudget;
  readonly responseBytes: ByteBudget;
}

interface ExchangeOptions {
  deadline: Deadline;
  /** The previous request on the connection, if it is unfinished. The requests on a connection run one at a time. */
  blockedBy: Exchange | undefined;
  record: AccessRecord | undefined;
}

/** A request and its response, lasting from the request's headers to the last byte of the response. */
export class Exchange {
  readonly res: ServerResponse;
  readonly deadline: Deadline;
  /** Access log record, or undefined if there is no access log. */
  readonly record: AccessRecord | undefined;
  readonly #budgets: MemoryBudgets;
  readonly #blockedBy: Exchange | undefined;
  #closed: PromiseWithResolvers<void> | undefined;
  #isProcessing = false;
  #awaitsResponse = false;
  #isClosed = false;
  #requestBytes = 0;
  #responseBytes = 0;

  constructor(budgets: MemoryBudgets, res: ServerResponse, { deadline, blockedBy, record }: ExchangeOptions) {
    this.#budgets = budgets;
    this.#blockedBy = blockedBy;
    this.res = res;
    this.deadline = deadline;
    this.record = record;
  }

  /** True while the node is processing the request. */
  get isProcessing(): boolean {
    return this.#isProcessing;
  }

  /** True from the start of processing until the response begins. */
  get awaitsResponse(): boolean {
    return this.#awaitsResponse;
  }

  /** True once the exchange is finished or the client has disconnected. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls `work` once earlier requests on the connection are finished. By then, the exchange may be closed. */
  start(work: () => void): void {
    if (!this.#blockedBy) scheduler.run("request", work);
    else if (this.#blockedBy.isClosed) scheduler.run("pipelined", work);
    else void this.#blockedBy.#whenClosed().then(() => scheduler.run("pipelined", work));
  }

  #whenClosed(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    return this.#closed.promise;
  }

  /** Reserves memory for the request body. Returns false if this would exceed the server's limit. */
  reserveRequest(bytes: number): boolean {
    if (!this.#budgets.requestBytes.reserve(bytes)) return false;
    this.#requestBytes += bytes;
    return true;
  }

  /**
   * Reserves memory for the response until the exchange ends. Returns false if this would exceed the server's limit.
   */
  reserveResponse(bytes: number): boolean {
    if (!this.#budgets.responseBytes.reserve(bytes)) return false;
    this.#responseBytes += bytes;
    return true;
  }

  /** Marks the request as received and being processed. */
  beginProcessing(): void {
    this.#isProcessing = true;
    this.#awaitsResponse = true;
    this.record?.markStarted();
  }

  /** Marks the beginning of the response, after which only the client can delay the exchange. */
  beginResponse(): void {
    this.#awaitsResponse = false;
  }

  /** Marks the request as processed and releases its memory. The client may still be reading the response. */
  endProcessing(): void {
    this.#isProcessing = false;
    this.#awaitsResponse = false;
    this.releaseRequest();
  }

  /**
   * Discards the unread request body before an error is sent. A small body is read to the end to keep the connection
   * alive. Otherwise reading stops, and the connection is closed after the response.
   */
  discardBody(): void {
    const { req } = this.res;
    req.resume();
    if (req.complete || maxBodyBytes(req) <= MAX_DISCARDED_BYTES) return;
    this.res.shouldKeepAlive = false;
    stopReading(req.socket);
  }

  releaseRequest(): void {
    this.#budgets.requestBytes.release(this.#requestBytes);
    this.#requestBytes = 0;
  }

  /** Finishes the exchange. Returns false if it has already been closed. */
  end(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    this.#closed?.resolve();
    this.releaseRequest();
    this.#budgets.responseBytes.release(this.#responseBytes);
    this.record?.end(this.res);
    return true;
  }
}

/**
 * Stops reading permanently. Pausing would not be enough, because Node resumes the socket whenever a chunk of a request
 * body is consumed.
 */
function stopReading(socket: Socket): void {
  socket.on("resume", () => socket.pause()).pause();
}
