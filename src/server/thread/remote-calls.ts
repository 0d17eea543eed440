import { setImmediate } from "node:timers";
import { LARGE_MESSAGE_BYTES } from "../../json/parse.ts";
import type { Answer, Caller, Method, Params, Waiting } from "../method-table.ts";
import type { BodyPart, RestAnswer, RestRequest, RestRoute } from "../rest/route-table.ts";
import { asksForHead, HeadRegistryAnswers } from "./head-registry.ts";
import { KeptAnswers } from "./kept-answers.ts";
import type { ThreadOutbox } from "./outbox.ts";
import { passOwn } from "./passed-bytes.ts";
import type { KeptWhile, LentRegistry, Outcome, PassedBody, PassedRestAnswer, ToMain } from "./protocol.ts";
import type { RemoteFeeds } from "./remote-feeds.ts";
import type { RemoteStreams } from "./remote-streams.ts";
import { RepeatedCalls } from "./repeated-calls.ts";
import { passThrown } from "./thrown.ts";

/** What the main thread has not answered. */
interface Pending<Result> {
  resolve(answer: Result): void;
  reject(error: Error): void;
  stopWaiting: (() => void) | undefined;
}

interface PendingCall extends Pending<Answer> {
  caller: Caller | undefined;
  /** By what the answer is kept, when it can be. */
  key: string | undefined;
}

interface PendingRequest extends Pending<RestAnswer> {
  key: string | undefined;
}

interface RemoteCallsParts {
  outbox: ThreadOutbox<ToMain>;
  streams: RemoteStreams;
  feeds: RemoteFeeds;
  revision: Int32Array;
}

/** Calls methods and routes that are in the main thread. */
export class RemoteCalls {
  readonly #outbox: ThreadOutbox<ToMain>;
  readonly #streams: RemoteStreams;
  readonly #feeds: RemoteFeeds;
  readonly #kept: KeptAnswers<Answer>;
  readonly #keptRest: KeptAnswers<RestAnswer>;
  readonly #repeated: RepeatedCalls;
  readonly #registry: HeadRegistryAnswers;
  readonly #pendingCalls = new Map<number, PendingCall>();
  readonly #pendingRequests = new Map<number, PendingRequest>();
  #last = 0;

  constructor({ outbox, streams, feeds, revision }: RemoteCallsParts) {
    this.#outbox = outbox;
    this.#streams = streams;
    this.#feeds = feeds;
    this.#kept = new KeptAnswers(revision);
    this.#keptRest = new KeptAnswers(revision);
    this.#registry = new HeadRegistryAnswers(revision);
    this.#repeated = new RepeatedCalls((id) => outbox.send(["renew no more", id]));
  }

  /** Whoever calls a method whose answers are kept may get one of before, if it is still true. */
  call(
    position: number,
    { cost, keepsAnswers, excerpt }: Pick<Method, "cost" | "keepsAnswers" | "excerpt">,
    params: Params,
    caller: Caller | undefined,
    waiting: Waiting | undefined,
  ): Promise<Answer> {
    const text = JSON.stringify(params);
    let key: string | undefined;
    if (keepsAnswers) {
      key = `${position} ${text}`;
      const kept = this.#kept.get(key);
      this.#repeated.note(key);
      if (kept) {
        const isAtHand = cost === "cheap" || (cost === "state" && asksForHead(params));
        if (isAtHand && this.#kept.canChange(key)) this.#renew(key, (id) => ["renew call", id, position, text]);
        return Promise.resolve(kept);
      }
    }
    const excerpted = excerpt && this.#registry.call(excerpt, params);
    if (excerpted) return Promise.resolve(excerpted);
    return this.#begin(waiting, { caller, key }, (id) => {
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
    return this.#begin(waiting, { caller, key: undefined }, (id) => {
      const passed = passOwn(message);
      this.#outbox.send(["message", id, position, passed], passed);
    });
  }

  #begin(
    waiting: Waiting | undefined,
    call: Pick<PendingCall, "caller" | "key">,
    send: (id: number) => void,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#pendingCalls.set(id, { resolve, reject, ...call, stopWaiting: this.#cancelWhenOver(id, waiting) });
      send(id);
    });
  }

  /** Whoever holds an answer already is told by the main thread whether it is still the same. */
  request(
    position: number,
    { verb, keepsAnswers, excerpt }: Pick<RestRoute, "verb" | "keepsAnswers" | "excerpt">,
    request: RestRequest,
  ): Promise<RestAnswer> {
    const { params, url, headers, body, waiting, format } = request;
    let key: string | undefined;
    if (keepsAnswers && headers["if-none-match"] === undefined) {
      key = `${position} ${format} ${url}`;
      const kept = this.#keptRest.get(key);
      this.#repeated.note(key);
      if (kept) {
        const isAtHand = params.state_id === undefined || asksForHead(params);
        if (isAtHand && this.#keptRest.canChange(key)) {
          this.#renew(key, (id) => ["renew request", id, position, url, params, undefined, format, undefined]);
        }
        return Promise.resolve(kept);
      }
    }
    const excerpted = excerpt && this.#registry.request(verb, excerpt, request);
    if (excerpted) return Promise.resolve(excerpted);
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#pendingRequests.set(id, { resolve, reject, key, stopWaiting: this.#cancelWhenOver(id, waiting) });
      const passed = body && passOwn(body);
      this.#outbox.send(["request", id, position, url, params, passedHeaders(headers), format, passed], passed);
    });
  }

  /** Has the main thread answer a call again whenever the answer is another one. */
  #renew(key: string, renewal: (id: number) => ToMain): void {
    const id = this.#repeated.add(key);
    if (id !== undefined) this.#outbox.send(renewal(id));
  }

  lend(registry: LentRegistry): void {
    if (!this.#registry.lend(registry)) this.#outbox.send(["lend no more"]);
  }

  answer(
    id: number,
    passed: PassedBody,
    meta: Answer["meta"],
    headers: Answer["headers"],
    kept: KeptWhile | undefined,
  ): void {
    const call = id < 0 ? undefined : end(this.#pendingCalls, id);
    const key = call ? call.key : this.#repeated.keyOf(id);
    const answer: Answer = { body: this.#streams.bodyOf(passed), meta, headers };
    const size = sizeOf([answer.body]);
    if (kept !== undefined && key !== undefined && size !== undefined) this.#kept.put(key, answer, size, kept);
    call?.resolve(answer);
  }

  answerRequest(id: number, kept: KeptWhile | undefined, ...answered: PassedRestAnswer): void {
    const [status, headers, format, passed = [], lasting, tag, topics] = answered;
    const request = id < 0 ? undefined : end(this.#pendingRequests, id);
    const key = request ? request.key : this.#repeated.keyOf(id);
    const parts = passed.map((part) => this.#streams.bodyOf(part));
    const size = sizeOf(parts);
    const answer: RestAnswer = { status, headers, content: format && { format, parts }, lasting, tag };
    if (kept !== undefined && key !== undefined && size !== undefined) this.#keptRest.put(key, answer, size, kept);
    if (topics === undefined) request?.resolve(answer);
    else if (request) void this.#answerWithFeed(topics, answer, request.resolve);
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
    (this.#pendingCalls.has(id) ? end(this.#pendingCalls, id) : end(this.#pendingRequests, id)).reject(error);
  }

  subscribe(question: number, call: number, topics: readonly string[]): void {
    void this.#settle(question, () => this.#callerOf(call).subscribe(this.#feeds.feed(topics)));
  }

  unsubscribe(question: number, call: number, subscription: string): void {
    void this.#settle(question, () => this.#callerOf(call).unsubscribe(subscription));
  }

  #cancelWhenOver(id: number, waiting: Waiting | undefined): (() => void) | undefined {
    return waiting?.onOver?.((reason) => this.#outbox.send(["cancel", id, passThrown(reason)]));
  }

  #callerOf(id: number): Caller {
    const caller = this.#pendingCalls.get(id)?.caller;
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

/** Undefined when one of them is a stream. */
function sizeOf(parts: readonly BodyPart[]): number | undefined {
  let size = 0;
  for (const part of parts) {
    if (!Buffer.isBuffer(part)) return undefined;
    size += part.length;
  }
  return size;
}

function end<Call extends Pending<never>>(pending: Map<number, Call>, id: number): Call {
  const call = pending.get(id);
  if (call === undefined) throw new Error(`Nothing waits for answer ${id}.`);
  pending.delete(id);
  call.stopWaiting?.();
  return call;
}
