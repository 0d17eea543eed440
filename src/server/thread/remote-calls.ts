import { setImmediate } from "node:timers";
import { LARGE_MESSAGE_BYTES } from "../../json/parse.ts";
import { SharedStream } from "../../json/shared-stream.ts";
import type { Answer, Caller, Params, Waiting } from "../method-table.ts";
import type { BodyPart, RestAnswer, RestRequest } from "../rest/route-table.ts";
import { elementOf, elementOfCall, elementOfRequest, type ListElement } from "./list-elements.ts";
import type { ThreadOutbox } from "./outbox.ts";
import { passOwn } from "./passed-bytes.ts";
import type { MethodFacts, Outcome, PassedBody, PassedRestAnswer, RouteFacts, ToMain, Validity } from "./protocol.ts";
import type { RemoteFeeds } from "./remote-feeds.ts";
import type { RemoteStreams } from "./remote-streams.ts";
import { RepeatedCalls } from "./repeated-calls.ts";
import { type Response, ResponseCache } from "./response-cache.ts";
import { passThrown } from "./thrown.ts";

/** A call or request that the main thread has not answered. */
interface Pending {
  resolve(response: Response): void;
  reject(error: Error): void;
  stopWaiting: (() => void) | undefined;
  caller?: Caller | undefined;
  /** The key of the response in the cache, if it may be cached. */
  key: string | undefined;
  element: ListElement | undefined;
}

interface RemoteCallsParts {
  outbox: ThreadOutbox<ToMain>;
  streams: RemoteStreams;
  feeds: RemoteFeeds;
  revision: Int32Array;
}

/** Calls methods and routes that are in the main thread. Repeated calls are answered from the cache. */
export class RemoteCalls {
  readonly #outbox: ThreadOutbox<ToMain>;
  readonly #streams: RemoteStreams;
  readonly #feeds: RemoteFeeds;
  readonly #cache: ResponseCache;
  readonly #repeated: RepeatedCalls;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor({ outbox, streams, feeds, revision }: RemoteCallsParts) {
    this.#outbox = outbox;
    this.#streams = streams;
    this.#feeds = feeds;
    this.#cache = new ResponseCache(revision);
    this.#repeated = new RepeatedCalls((id, key) => {
      outbox.send(["renew no more", id]);
      // A list would keep the memory of a state.
      this.#cache.delete(key);
    });
  }

  call(
    position: number,
    { isCacheable, listedBy }: Pick<MethodFacts, "isCacheable" | "listedBy">,
    params: Params,
    caller: Caller | undefined,
    waiting: Waiting | undefined,
  ): Promise<Answer> {
    const text = JSON.stringify(params);
    const key = isCacheable ? `${position} ${text}` : undefined;
    const cached = key && this.#cached<Answer>(key, (id) => ["renew call", id, false, position, text]);
    if (cached) return Promise.resolve(cached);
    const element = key !== undefined && listedBy !== undefined ? elementOfCall(listedBy, params) : undefined;
    const written = element && this.#written<Answer>(element);
    if (written) return Promise.resolve(written);
    return this.#begin({ waiting, caller, key, element }, (id) => {
      const json = text.length < LARGE_MESSAGE_BYTES ? text : passOwn(Buffer.from(text));
      this.#outbox.send(["call", id, position, json], json);
    });
  }

  callByMessage(
    position: number,
    message: Uint8Array,
    caller: Caller | undefined,
    waiting: Waiting | undefined,
  ): Promise<Answer> {
    return this.#begin({ waiting, caller, key: undefined, element: undefined }, (id) => {
      const passed = passOwn(message);
      this.#outbox.send(["message", id, position, passed], passed);
    });
  }

  /** A conditional request goes to the main thread, which compares entity tags. */
  request(
    position: number,
    { isCacheable, listedBy }: Pick<RouteFacts, "isCacheable" | "listedBy">,
    request: RestRequest,
  ): Promise<RestAnswer> {
    const { params, url, headers, body, waiting, format } = request;
    const key = isCacheable && headers["if-none-match"] === undefined ? `${position} ${format} ${url}` : undefined;
    const cached =
      key &&
      this.#cached<RestAnswer>(key, (id) => [
        "renew request",
        id,
        false,
        position,
        url,
        params,
        undefined,
        format,
        undefined,
      ]);
    if (cached) return Promise.resolve(cached);
    const element = key !== undefined && listedBy !== undefined ? elementOfRequest(listedBy, request) : undefined;
    const written = element && this.#written<RestAnswer>(element);
    if (written) return Promise.resolve(written);
    return this.#begin({ waiting, key, element }, (id) => {
      const passed = body && passOwn(body);
      this.#outbox.send(["request", id, position, url, params, passedHeaders(headers), format, passed], passed);
    });
  }

  /** Looks up a response. From its second use on, the main thread prepares it ahead if its policy allows that. */
  #cached<Kind extends Response>(key: string, renewal: (id: number) => ToMain): Kind | undefined {
    const isRepeated = this.#repeated.note(key);
    const cached = this.#cache.get(key);
    if (cached === undefined) return undefined;
    if (!isRepeated) this.#prepare(key, cached.validity, renewal);
    // Keys of calls and of requests never coincide.
    return cached.response as Kind;
  }

  /** Has the main thread answer again whenever the revision changes, if the answer is worth that. */
  #prepare(key: string, validity: Validity | undefined, renewal: (id: number) => ToMain): void {
    if (validity === undefined || validity === "always" || !validity.isPreparedAhead) return;
    const id = this.#repeated.add(key);
    if (id !== undefined) this.#outbox.send(renewal(id));
  }

  /** Writes an answer that is an element of a list that was prepared ahead. */
  #written<Kind extends Response>({ key, index }: ListElement): Kind | undefined {
    this.#repeated.note(key);
    const list = this.#cache.get(key)?.response;
    const element = list && elementOf(list, index);
    // The list has the form of its elements.
    return element as Kind | undefined;
  }

  #begin<Kind extends Response>(
    { waiting, caller, key, element }: Pick<Pending, "caller" | "key" | "element"> & { waiting: Waiting | undefined },
    send: (id: number) => void,
  ): Promise<Kind> {
    return new Promise<Kind>((resolve, reject) => {
      const id = ++this.#last;
      const stopWaiting = waiting?.onOver?.((reason) => this.#outbox.send(["cancel", id, passThrown(reason)]));
      this.#pending.set(id, { resolve: resolve as Pending["resolve"], reject, caller, key, element, stopWaiting });
      send(id);
    });
  }

  answer(
    id: number,
    passed: PassedBody,
    meta: Answer["meta"],
    headers: Answer["headers"],
    validity: Validity | undefined,
  ): void {
    const body = this.#streams.bodyOf(passed);
    const answer: Answer = { body, meta, headers };
    this.#end(id, answer, [body], validity)?.resolve(answer);
  }

  answerRequest(id: number, validity: Validity | undefined, ...answered: PassedRestAnswer): void {
    const [status, headers, format, passed = [], lasting, tag, topics] = answered;
    const parts = passed.map((part) => this.#streams.bodyOf(part));
    const answer: RestAnswer = { status, headers, content: format && { format, parts }, lasting, tag };
    const request = this.#end(id, answer, parts, validity);
    if (topics === undefined) request?.resolve(answer);
    else if (request) void this.#answerWithFeed(topics, answer, request.resolve);
  }

  /** Caches the response if it is valid for a while. Returns the call that waits for it, if it was not prepared ahead. */
  #end(
    id: number,
    response: Response,
    parts: readonly BodyPart[],
    validity: Validity | undefined,
  ): Pending | undefined {
    const pending = id < 0 ? undefined : this.#take(id);
    const key = pending ? pending.key : this.#repeated.keyOf(id);
    // Of a list only the descriptor is used, in memory that the threads share.
    if (pending === undefined) for (const part of parts) if (part instanceof SharedStream) part.release();
    const size = sizeOf(parts, pending === undefined);
    if (validity !== undefined && key !== undefined && size !== undefined) {
      this.#cache.put(key, response, size, validity);
    }
    if (pending?.element) this.#prepare(pending.element.key, validity, pending.element.renewal);
    return pending;
  }

  #take(id: number): Pending {
    const pending = this.#pending.get(id);
    if (pending === undefined) throw new Error(`Nothing waits for answer ${id}.`);
    this.#pending.delete(id);
    pending.stopWaiting?.();
    return pending;
  }

  /** Whoever learns that a stream of events is open hears of all that happens from then on. */
  async #answerWithFeed(
    topics: readonly string[],
    answer: RestAnswer,
    resolve: (answer: RestAnswer) => void,
  ): Promise<void> {
    const letGo = await this.#feeds.hold(topics);
    resolve({ ...answer, feed: this.#feeds.feed(topics) });
    // The server has opened the feed by then, if it ever does.
    setImmediate(letGo);
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
    if (caller === undefined) throw new Error(`Call ${id} has no caller.`);
    return caller;
  }

  /** Never rejects. */
  async #settle(question: number, ask: () => unknown): Promise<void> {
    let outcome: Outcome;
    try {
      outcome = { value: await ask() };
    } catch (error) {
      outcome = { thrown: passThrown(error) };
    }
    this.#outbox.send(["outcome", question, outcome]);
  }
}

/** Those that say something of what is asked; the others are the server's, and each would have to be copied. */
function passedHeaders(headers: RestRequest["headers"]): RestRequest["headers"] | undefined {
  let passed: RestRequest["headers"] | undefined;
  for (const name in headers) {
    if (!name.startsWith("eth-") && name !== "content-type" && name !== "if-none-match") continue;
    passed ??= {};
    passed[name] = headers[name];
  }
  return passed;
}

/** Undefined when one of them is a stream, unless that is the descriptor of a list. */
function sizeOf(parts: readonly BodyPart[], isPrepared: boolean): number | undefined {
  let size = 0;
  for (const part of parts) {
    if (Buffer.isBuffer(part)) size += part.length;
    else if (!isPrepared) return undefined;
  }
  return size;
}
