import { setImmediate } from "node:timers";
import type { ScannedJson } from "../../../json/parse.ts";
import { SharedStream } from "../../../json/shared-stream.ts";
import type { ThreadOutbox } from "../../../threads/outbox.ts";
import { ownsMemory, transferOwned } from "../../../threads/transferred-bytes.ts";
import type { Caller, Cancellation, MethodResponse, Params } from "../../method-table.ts";
import type { BodyPart, RestRequest, RestResponse } from "../../rest/route-table.ts";
import type { DirectCall, DirectCalls } from "../direct/direct-calls.ts";
import { SERVER_ERRORS } from "../messages/errors.ts";
import {
  type MethodInfo,
  type Outcome,
  REVISION_INDEXES,
  type RouteInfo,
  type ToMain,
  type TransferredBody,
  type TransferredRestResponse,
  type Validity,
} from "../messages/protocol.ts";
import { elementOfCall, elementOfRequest, extractElement, type ListElement } from "./list-elements.ts";
import type { RemoteFeeds } from "./remote-feeds.ts";
import type { RemoteStreams } from "./remote-streams.ts";
import { RepeatedCalls } from "./repeated-calls.ts";
import { type Response, ResponseCache } from "./response-cache.ts";

/** A call or request that is in progress in the main thread. */
interface Pending {
  resolve(response: Response): void;
  reject(error: Error): void;
  stopWaiting: (() => void) | undefined;
  caller?: Caller | undefined;
  /** The cache key for the response, if it may be cached. */
  key: string | undefined;
  element: ListElement | undefined;
}

interface RemoteCallsOptions {
  outbox: ThreadOutbox<ToMain>;
  streams: RemoteStreams;
  feeds: RemoteFeeds;
  revision: Int32Array;
  /** Calls that a third thread answers. */
  direct?: DirectCalls | undefined;
}

/**
 * Calls methods and routes in the main thread, and some methods in a third thread. Repeated calls are answered from the
 * cache.
 */
export class RemoteCalls {
  readonly #outbox: ThreadOutbox<ToMain>;
  readonly #streams: RemoteStreams;
  readonly #feeds: RemoteFeeds;
  readonly #direct: DirectCalls | undefined;
  readonly #revision: Int32Array;
  readonly #cache: ResponseCache;
  readonly #repeated: RepeatedCalls;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor({ outbox, streams, feeds, revision, direct }: RemoteCallsOptions) {
    this.#outbox = outbox;
    this.#streams = streams;
    this.#feeds = feeds;
    this.#direct = direct;
    this.#revision = revision;
    this.#cache = new ResponseCache(revision);
    this.#repeated = new RepeatedCalls((id, key) => {
      outbox.send(["stop prewarming", id]);
      // If it stayed in the cache, a list would retain the memory of its state.
      this.#cache.delete(key);
    });
  }

  call(
    position: number,
    { name, isCacheable, listedBy }: Pick<MethodInfo, "name" | "isCacheable" | "listedBy">,
    params: Params,
    caller: Caller | undefined,
    cancellation: Cancellation | undefined,
    received: ScannedJson | undefined,
  ): MethodResponse | Promise<MethodResponse> {
    const text = received ? received.text : JSON.stringify(params);
    const key = isCacheable ? `${position} ${text}` : undefined;
    const cached = key && this.#cached<MethodResponse>(key, (id) => ["prewarm call", id, false, position, text]);
    if (cached) return cached;
    const element = key !== undefined && listedBy !== undefined ? elementOfCall(listedBy, params) : undefined;
    const response = element && this.#listElement<MethodResponse>(element);
    if (response) return response;
    const isIrregular = received?.isIrregular;
    const callMain = () =>
      this.#begin<MethodResponse>({ cancellation, caller, key, element }, (id) =>
        this.#outbox.send(["call", id, position, text, isIrregular]),
      );
    if (!this.#direct?.accepts(name)) return callMain();
    return this.#callDirectly(this.#direct, { method: name, params: text, isIrregular }, cancellation, key, callMain);
  }

  /** Calls a method in a third thread, or in the main thread if the third one ends meanwhile. */
  async #callDirectly(
    direct: DirectCalls,
    call: DirectCall,
    cancellation: Cancellation | undefined,
    key: string | undefined,
    callMain: () => Promise<MethodResponse>,
  ): Promise<MethodResponse> {
    // The response may miss later changes.
    const revision = Atomics.load(this.#revision, REVISION_INDEXES.evm);
    const result = await direct.call(call, cancellation);
    if (result === undefined) return callMain();
    const { json: body, isCacheable } = result;
    if (isCacheable && key !== undefined) {
      this.#cache.put(key, { body }, body.length, { on: "evm", revision, isPrewarmed: false });
    }
    return { body };
  }

  /** Calls a method with large parameters, which are not parsed in this thread. */
  callByJson(
    position: number,
    { bytes, message, isIrregular }: ScannedJson,
    caller: Caller | undefined,
    cancellation: Cancellation | undefined,
  ): Promise<MethodResponse> {
    return this.#begin({ cancellation, caller, key: undefined, element: undefined }, (id) => {
      const json = ownsMemory(message) ? bytes : new Uint8Array(bytes);
      this.#outbox.send(["large call", id, position, json, isIrregular], json);
    });
  }

  /** Handles a REST request. Conditional requests go to the main thread, which compares ETags. */
  request(
    position: number,
    { isCacheable, listedBy }: Pick<RouteInfo, "isCacheable" | "listedBy">,
    request: RestRequest,
  ): RestResponse | Promise<RestResponse> {
    const { params, url, headers, body, cancellation, format } = request;
    const key = isCacheable && headers["if-none-match"] === undefined ? `${position} ${format} ${url}` : undefined;
    const cached =
      key &&
      this.#cached<RestResponse>(key, (id) => [
        "prewarm request",
        id,
        false,
        position,
        url,
        params,
        undefined,
        format,
        undefined,
      ]);
    if (cached) return cached;
    const element = key !== undefined && listedBy !== undefined ? elementOfRequest(listedBy, request) : undefined;
    const response = element && this.#listElement<RestResponse>(element);
    if (response) return response;
    return this.#begin({ cancellation, key, element }, (id) => {
      const transferred = body && transferOwned(body);
      this.#outbox.send(["request", id, position, url, params, readHeaders(headers), format, transferred], transferred);
    });
  }

  /** Looks up a cached response. When it is used for the second time, prewarming starts if the policy allows it. */
  #cached<Kind extends Response>(key: string, prewarm: (id: number) => ToMain): Kind | undefined {
    const isRepeated = this.#repeated.touch(key);
    const cached = this.#cache.get(key);
    if (cached === undefined) return undefined;
    if (!isRepeated) this.#prewarm(key, cached.validity, prewarm);
    // The keys of calls and requests never collide.
    return cached.response as Kind;
  }

  /** Starts prewarming a response if its policy allows it. */
  #prewarm(key: string, validity: Validity | undefined, prewarm: (id: number) => ToMain): void {
    if (validity === undefined || validity === "always" || !validity.isPrewarmed) return;
    const id = this.#repeated.add(key);
    if (id !== undefined) this.#outbox.send(prewarm(id));
  }

  /** Returns an element of a prewarmed list. */
  #listElement<Kind extends Response>({ key, index }: ListElement): Kind | undefined {
    this.#repeated.touch(key);
    const list = this.#cache.get(key)?.response;
    const element = list && extractElement(list, index);
    // An element has the same response type as its list.
    return element as Kind | undefined;
  }

  #begin<Kind extends Response>(
    {
      cancellation,
      caller,
      key,
      element,
    }: Pick<Pending, "caller" | "key" | "element"> & { cancellation: Cancellation | undefined },
    send: (id: number) => void,
  ): Promise<Kind> {
    return new Promise<Kind>((resolve, reject) => {
      const id = ++this.#last;
      const stopListening = cancellation?.onAbort?.((reason) =>
        this.#outbox.send(["cancel", id, SERVER_ERRORS.serialize(reason)]),
      );
      this.#pending.set(id, {
        resolve: resolve as Pending["resolve"],
        reject,
        caller,
        key,
        element,
        stopWaiting: stopListening,
      });
      send(id);
    });
  }

  answer(
    id: number,
    transferred: TransferredBody,
    meta: MethodResponse["meta"],
    headers: MethodResponse["headers"],
    validity: Validity | undefined,
  ): void {
    const body = this.#streams.bodyOf(transferred);
    const response: MethodResponse = { body, meta, headers };
    this.#end(id, response, [body], validity)?.resolve(response);
  }

  respondToRequest(id: number, validity: Validity | undefined, ...fields: TransferredRestResponse): void {
    const [status, headers, format, transferredParts = [], cacheLifetime, tag, topics] = fields;
    const parts = transferredParts.map((part) => this.#streams.bodyOf(part));
    const answer: RestResponse = { status, headers, content: format && { format, parts }, cacheLifetime, tag };
    const request = this.#end(id, answer, parts, validity);
    if (topics === undefined) request?.resolve(answer);
    else if (request) void this.#answerWithFeed(topics, answer, request.resolve);
  }

  /** Caches the response if its validity is known. Returns the pending call, if any. */
  #end(
    id: number,
    response: Response,
    parts: readonly BodyPart[],
    validity: Validity | undefined,
  ): Pending | undefined {
    const pending = id < 0 ? undefined : this.#take(id);
    const key = pending ? pending.key : this.#repeated.keyOf(id);
    // Only the list's descriptor is used, since the threads share the list's memory.
    if (pending === undefined) for (const part of parts) if (part instanceof SharedStream) part.release();
    const size = sizeOf(parts, pending === undefined);
    if (validity !== undefined && key !== undefined && size !== undefined) {
      this.#cache.put(key, response, size, validity);
    }
    if (pending?.element) this.#prewarm(pending.element.key, validity, pending.element.prewarm);
    return pending;
  }

  #take(id: number): Pending {
    const pending = this.#pending.get(id);
    if (pending === undefined) throw new Error(`No pending call ${id}`);
    this.#pending.delete(id);
    pending.stopWaiting?.();
    return pending;
  }

  /** Responds with an event stream once the main thread is delivering its events, so that no event is missed. */
  async #answerWithFeed(
    topics: readonly string[],
    answer: RestResponse,
    resolve: (answer: RestResponse) => void,
  ): Promise<void> {
    const release = await this.#feeds.hold(topics);
    resolve({ ...answer, feed: this.#feeds.feed(topics) });
    // By then, the server has opened the feed.
    setImmediate(release);
  }

  fail(id: number, error: Error): void {
    this.#take(id).reject(error);
  }

  subscribe(question: number, call: number, topics: readonly string[]): void {
    void this.#settle(question, () => this.#callerOf(call).subscribe(this.#feeds.feed(topics)));
  }

  unsubscribe(question: number, call: number, subscription: string): void {
    void this.#settle(question, () => this.#callerOf(call).unsubscribe(subscription));
  }

  #callerOf(id: number): Caller {
    const caller = this.#pending.get(id)?.caller;
    if (caller === undefined) throw new Error(`Call ${id} has no caller`);
    return caller;
  }

  /** Answers a request from the main thread. Never rejects. */
  async #settle(question: number, ask: () => unknown): Promise<void> {
    let outcome: Outcome;
    try {
      outcome = { value: await ask() };
    } catch (error) {
      outcome = { thrown: SERVER_ERRORS.serialize(error) };
    }
    this.#outbox.send(["outcome", question, outcome]);
  }
}

/** Returns only those headers that routes read, to save copying. */
function readHeaders(headers: RestRequest["headers"]): RestRequest["headers"] | undefined {
  let selected: RestRequest["headers"] | undefined;
  for (const name in headers) {
    if (!name.startsWith("eth-") && name !== "content-type" && name !== "if-none-match") continue;
    selected ??= {};
    selected[name] = headers[name];
  }
  return selected;
}

/** Returns the size of a response. Undefined for streams, except for descriptors of prewarmed lists. */
function sizeOf(parts: readonly BodyPart[], isPrewarmed: boolean): number | undefined {
  let size = 0;
  for (const part of parts) {
    if (Buffer.isBuffer(part)) size += part.length;
    else if (!isPrewarmed) return undefined;
  }
  return size;
}
