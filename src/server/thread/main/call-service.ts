import { yieldToEventLoop } from "../../../async/time-slice.ts";
import { parseScanned } from "../../../json/parse.ts";
import { SharedStream } from "../../../json/shared-stream.ts";
import type { ThreadOutbox } from "../../../threads/outbox.ts";
import { PendingCalls } from "../../../threads/pending-calls.ts";
import type { TransferredBytes } from "../../../threads/transferred-bytes.ts";
import { copyForTransfer, copyLargeForTransfer, receiveBytes } from "../../../threads/transferred-bytes.ts";
import type { Feed } from "../../events/feed.ts";
import { closeSource } from "../../http/response/chunk-stream.ts";
import type { CachePolicy, CallableMethod, Caller, Cancellation, MethodResponse, Params } from "../../method-table.ts";
import type { BodyPart, RestRequest, RestResponse, RouteTable } from "../../rest/route-table.ts";
import { SERVER_ERRORS } from "../messages/errors.ts";
import { parseParams } from "../messages/params.ts";
import {
  type Outcome,
  type PublishedRevision,
  REVISION_INDEXES,
  type ToThread,
  type TransferredBody,
  type TransferredRequest,
  type TransferredRestResponse,
  type Validity,
} from "../messages/protocol.ts";
import { CachePrewarmer } from "./cache-prewarmer.ts";
import { LargeCallQueue } from "./large-call-queue.ts";
import type { StreamSender } from "./stream-sender.ts";

/** Methods and routes, by their index in the server thread. */
interface CallTargets {
  methods: readonly CallableMethod[];
  routes: RouteTable;
  revision: PublishedRevision;
}

/** Used for prewarming, which is never cancelled. */
const NEVER_CANCELLED: Cancellation = { signal: new AbortController().signal };

/** Calls methods and routes on behalf of the servers, which run in another thread. */
export class CallService {
  readonly #targets: CallTargets;
  readonly #outbox: ThreadOutbox<ToThread>;
  readonly #streams: StreamSender;
  readonly #running = new Map<number, RunningCall>();
  readonly #questions = new PendingCalls();
  readonly #prewarmer: CachePrewarmer;
  readonly #stopListening: () => void;
  readonly #largeCalls = new LargeCallQueue();

  constructor(targets: CallTargets, outbox: ThreadOutbox<ToThread>, streams: StreamSender) {
    this.#targets = targets;
    this.#outbox = outbox;
    this.#streams = streams;
    const { revision } = targets;
    this.#prewarmer = new CachePrewarmer(outbox, revision.memory);
    this.#stopListening = revision.onPublished(() => this.#prewarmer.schedule());
  }

  /** Calls a method. `isIrregular` is undefined if the parameters have not been checked against the limits. */
  call(id: number, position: number, json: string, isIrregular: boolean | undefined): void {
    void this.#call(this.#begin(id), position, parseParams(json, isIrregular));
  }

  /** Parses and makes a large call when it is the call's turn, unless the call has been cancelled. */
  callLarge(id: number, position: number, json: Uint8Array, isIrregular: boolean): void {
    const running = this.#begin(id);
    void this.#largeCalls.run(json.length, async () => {
      await yieldToEventLoop();
      try {
        if (running.abortReason) throw running.abortReason;
        await this.#call(running, position, parseScanned(json, isIrregular) as Params);
      } catch (error) {
        this.#fail(running, error);
      }
    });
  }

  request(id: number, position: number, ...transferred: TransferredRequest): void {
    const running = this.#begin(id);
    const route = this.#targets.routes[position]!;
    const request = receiveRequest(transferred, running);
    const validity = route.isCacheable ? this.#validityOf(route.cachePolicy?.(request)) : undefined;
    Promise.resolve(route.handle(request))
      .then((answer) => this.#answerRequest(running, answer, validity))
      .catch((error: unknown) => this.#fail(running, error));
  }

  /** Prewarms a call by sending a new response whenever the revision changes. */
  prewarmCall(id: number, isList: boolean, position: number, json: string): void {
    const method = this.#targets.methods[position]!;
    const params = parseParams(json, undefined);
    const on = method.cachePolicy?.(params)?.on;
    if (on === undefined || on === "nothing") return;
    const answer = async (validity: Validity) => {
      const { body, meta, headers } = await method.call(params);
      if (!this.#canPrewarm(id, isList, [body])) return;
      const copy = Buffer.isBuffer(body) ? copyForTransfer(body) : this.#streams.open(body);
      this.#outbox.send(["response", id, copy, meta, headers, validity], copy);
    };
    this.#prewarmer.add(id, { on, isList, answer });
  }

  prewarmRequest(id: number, isList: boolean, position: number, ...transferred: TransferredRequest): void {
    const route = this.#targets.routes[position]!;
    const request = receiveRequest(transferred, NEVER_CANCELLED);
    const on = route.cachePolicy?.(request)?.on;
    if (on === undefined || on === "nothing") return;
    const answer = async (validity: Validity) => {
      const response = await route.handle(request);
      if (!this.#canPrewarm(id, isList, response.content?.parts ?? [])) return;
      await this.#sendRestAnswer(id, response, validity);
    };
    this.#prewarmer.add(id, { on, isList, answer });
  }

  /**
   * Returns true if the response is of the expected kind: a shared list, or otherwise not a stream. If it is not, stops
   * prewarming the call.
   */
  #canPrewarm(id: number, isList: boolean, parts: readonly BodyPart[]): boolean {
    const streams = parts.filter((part): part is AsyncIterable<Buffer> => !Buffer.isBuffer(part));
    if (isList ? streams[0] instanceof SharedStream : streams.length === 0) return true;
    for (const stream of streams) closeSource(stream[Symbol.asyncIterator]());
    this.#prewarmer.delete(id);
    return false;
  }

  stopPrewarming(id: number): void {
    this.#prewarmer.delete(id);
  }

  cancel(id: number, reason: Error): void {
    this.#running.get(id)?.cancel(reason);
  }

  settle(question: number, outcome: Outcome): void {
    if ("value" in outcome) this.#questions.resolve(question, outcome.value);
    else this.#questions.reject(question, SERVER_ERRORS.deserialize(outcome.thrown));
  }

  /** Cancels all calls. */
  close(reason: Error): void {
    for (const running of this.#running.values()) running.cancel(reason);
    this.#questions.rejectAll(reason);
    this.#stopListening();
    this.#prewarmer.clear();
  }

  #begin(id: number): RunningCall {
    const running = new RunningCall(id, this.#ask);
    this.#running.set(id, running);
    return running;
  }

  /** Calls a method and sends the response. Never rejects. */
  #call(running: RunningCall, position: number, params: Params): Promise<void> {
    const method = this.#targets.methods[position]!;
    const validity = method.isCacheable ? this.#validityOf(method.cachePolicy?.(params)) : undefined;
    return Promise.resolve(method.call(params, running, running)).then(
      (answer) => this.#answer(running, answer, validity),
      (error: unknown) => this.#fail(running, error),
    );
  }

  #answer(running: RunningCall, { body, meta, headers }: MethodResponse, validity: Validity | undefined): void {
    const send = (copy: TransferredBody) => {
      this.#running.delete(running.id);
      this.#outbox.send(["response", running.id, copy, meta, headers, validity], copy);
    };
    const copy = Buffer.isBuffer(body) ? copyLargeForTransfer(body) : this.#streams.open(body);
    if (copy instanceof Promise) void copy.then(send);
    else send(copy);
  }

  /**
   * Returns how long a response is valid. Must be called before the response is computed, because the response may miss
   * later changes.
   */
  #validityOf(policy: CachePolicy | undefined): Validity | undefined {
    if (policy === undefined) return undefined;
    const { on, isPrewarmed } = policy;
    if (on === "nothing") return "always";
    return {
      on,
      revision: Atomics.load(this.#targets.revision.memory, REVISION_INDEXES[on]),
      isPrewarmed,
    };
  }

  #answerRequest({ id }: RunningCall, answer: RestResponse, validity: Validity | undefined): Promise<void> | undefined {
    this.#running.delete(id);
    return this.#sendRestAnswer(id, answer, validity);
  }

  /** Sends a REST response. Returns a promise if a part is so large that it has to be copied in slices. */
  #sendRestAnswer(id: number, answer: RestResponse, validity: Validity | undefined): Promise<void> | undefined {
    const copies = answer.content && mergeSmallBuffers(answer.content.parts).map(copyOfBuffer);
    if (copies === undefined || areReady(copies)) {
      this.#sendCopies(id, answer, copies, validity);
      return undefined;
    }
    return Promise.all(copies).then((resolved) => this.#sendCopies(id, answer, resolved, validity));
  }

  #sendCopies(
    id: number,
    { status, headers, content, cacheLifetime, tag, feed }: RestResponse,
    copies: readonly CopiedPart[] | undefined,
    validity: Validity | undefined,
  ): void {
    // Streams are opened last, because their first chunks are sent immediately after the response.
    const parts = copies?.map((part) => (isBytes(part) ? part : this.#streams.open(part)));
    const transferred: TransferredRestResponse = [
      status,
      headers,
      content?.format,
      parts,
      cacheLifetime,
      tag,
      feed?.topics,
    ];
    this.#outbox.send(["rest response", id, validity, ...transferred], ...(parts ?? []));
  }

  #fail({ id }: RunningCall, error: unknown): void {
    this.#running.delete(id);
    this.#outbox.send(["thrown", id, SERVER_ERRORS.serialize(error)]);
  }

  readonly #ask: Ask = (message) => this.#questions.call((question) => this.#outbox.send(message(question)));
}

/** Sends a request to the server thread. */
type Ask = <T>(message: (question: number) => ToThread) => Promise<T>;

/** A call in progress as the method sees it: its caller and its cancellation. */
class RunningCall implements Caller, Cancellation {
  readonly id: number;
  readonly #ask: Ask;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;

  /** The reason why the call was cancelled. */
  get abortReason(): Error | undefined {
    return this.#abortReason;
  }

  constructor(id: number, ask: Ask) {
    this.id = id;
    this.#ask = ask;
  }

  /** Created lazily, because most calls are never cancelled. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  cancel(reason: Error): void {
    this.#abortReason ??= reason;
    this.#controller?.abort(this.#abortReason);
  }

  subscribe({ topics }: Feed): Promise<string> {
    return this.#ask((question) => ["subscribe", question, this.id, topics]);
  }

  unsubscribe(subscription: string): Promise<boolean> {
    return this.#ask((question) => ["unsubscribe", question, this.id, subscription]);
  }
}

/** A part of a body, ready for transfer. Streams are not copied. */
type CopiedPart = TransferredBytes | AsyncIterable<Buffer>;

const isBytes = (part: CopiedPart): part is TransferredBytes => typeof part === "string" || part instanceof Uint8Array;

function copyOfBuffer(part: BodyPart): CopiedPart | Promise<CopiedPart> {
  return Buffer.isBuffer(part) ? copyLargeForTransfer(part) : part;
}

function areReady(copies: readonly (CopiedPart | Promise<CopiedPart>)[]): copies is readonly CopiedPart[] {
  return !copies.some((copy) => copy instanceof Promise);
}

function receiveRequest(
  [url, params, headers = {}, format, body]: TransferredRequest,
  cancellation: Cancellation,
): RestRequest {
  return { url, params, headers, format, body: body === undefined ? undefined : receiveBytes(body), cancellation };
}

/** Buffers are joined up to this size, because the start and the end of a response are only a few bytes each. */
const JOINED_BELOW_BYTES = 256 * 1024;

/** Merges adjacent small buffers. */
function mergeSmallBuffers(parts: readonly BodyPart[]): BodyPart[] {
  const merged: BodyPart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    const canJoin = Buffer.isBuffer(last) && Buffer.isBuffer(part) && last.length + part.length < JOINED_BELOW_BYTES;
    if (canJoin) merged[merged.length - 1] = Buffer.concat([last, part]);
    else merged.push(part);
  }
  return merged;
}
