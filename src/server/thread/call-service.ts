import { yieldToEventLoop } from "../../async/time-slice.ts";
import { LARGE_MESSAGE_BYTES, parseMessage, parseMessageInSlices } from "../../json/parse.ts";
import { SharedStream } from "../../json/shared-stream.ts";
import type { Feed } from "../events/feed.ts";
import { abandon } from "../http/chunk-stream.ts";
import type { Answer, CachePolicy, Caller, Method, Params, Waiting } from "../method-table.ts";
import { RequestToRoute } from "../rest/request.ts";
import type { BodyPart, RestAnswer, RestRequest, RestRoute, RouteTable } from "../rest/route-table.ts";
import type { ThreadOutbox } from "./outbox.ts";
import { passCopy, passLargeCopy, received } from "./passed-bytes.ts";
import {
  type Outcome,
  type PassedBody,
  type PassedBytes,
  type PassedRequest,
  type PassedRestAnswer,
  type PublishedRevision,
  REVISION_PLACES,
  type ToThread,
  type Validity,
} from "./protocol.ts";
import { Renewals } from "./renewals.ts";
import type { StreamSender } from "./stream-sender.ts";
import { passThrown, receiveThrown } from "./thrown.ts";

/** What can be asked, by the positions that the thread of the servers has for it. */
interface Asked {
  methods: readonly Method[];
  routes: RouteTable;
  revision: PublishedRevision;
}

interface Question {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const NO_PARAMS = "[]";

/** Whoever is told without having asked does not give up. */
const FOR_EVER: Waiting = { signal: new AbortController().signal };

/** What is read of a long call takes several times the memory of its bytes, so that few are read before they are answered. */
const LONG_CALLS_AT_ONCE = 4;

/** Calls methods and routes for the servers, which are in another thread. */
export class CallService {
  readonly #asked: Asked;
  readonly #outbox: ThreadOutbox<ToThread>;
  readonly #streams: StreamSender;
  readonly #running = new Map<number, RunningCall>();
  readonly #questions = new Map<number, Question>();
  #lastQuestion = 0;
  readonly #renewals: Renewals;
  readonly #stopRenewing: () => void;
  #longCalls = 0;
  /** Long calls that wait until fewer are under way. */
  readonly #waitingCalls: (() => void)[] = [];

  constructor(asked: Asked, outbox: ThreadOutbox<ToThread>, streams: StreamSender) {
    this.#asked = asked;
    this.#outbox = outbox;
    this.#streams = streams;
    const { revision } = asked;
    this.#renewals = new Renewals(outbox, revision.memory);
    this.#stopRenewing = revision.onPublished(() => this.#renewals.renewSoon());
  }

  call(id: number, position: number, json: string | Uint8Array): void {
    const running = this.#begin(id);
    if (json === NO_PARAMS) void this.#call(running, position, []);
    else if (json.length < LARGE_MESSAGE_BYTES)
      void this.#call(running, position, parseMessage(bytesOf(json)) as Params);
    else void this.#callInTurn(running, position, bytesOf(json), (params) => params as Params);
  }

  /** Only such as are long come as a whole, of which the other thread has read no more than what they are about. */
  message(id: number, position: number, message: PassedBytes): void {
    void this.#callInTurn(this.#begin(id), position, received(message), (call) => {
      const { params } = call as { params?: Params | null };
      return params ?? [];
    });
  }

  request(id: number, position: number, ...passed: PassedRequest): void {
    const running = this.#begin(id);
    const route = this.#asked.routes[position]!;
    const request = requestTo(route, passed, running);
    const validity = route.isCacheable ? this.#validityOf(route.cachePolicy?.(request)) : undefined;
    route
      .handle(request)
      .then((answer) => this.#answerRequest(running, answer, validity))
      .catch((error: unknown) => this.#fail(running, error));
  }

  /** Answers a call of which the other thread keeps the answer, and again whenever that has changed. */
  renewCall(id: number, isList: boolean, position: number, json: string): void {
    const method = this.#asked.methods[position]!;
    const params = parseMessage(bytesOf(json)) as Params;
    const on = method.cachePolicy?.(params)?.on;
    if (on === undefined || on === "nothing") return;
    const answer = async (validity: Validity) => {
      const { body, meta, headers } = await method.call(params);
      if (!this.#staysPrepared(id, isList, [body])) return;
      const passed = Buffer.isBuffer(body) ? passCopy(body) : this.#streams.open(body);
      this.#outbox.send(["answer", id, passed, meta, headers, validity], passed);
    };
    this.#renewals.add(id, { on, isList, answer });
  }

  renewRequest(id: number, isList: boolean, position: number, ...passed: PassedRequest): void {
    const route = this.#asked.routes[position]!;
    const request = requestTo(route, passed, FOR_EVER);
    const on = route.cachePolicy?.(request)?.on;
    if (on === undefined || on === "nothing") return;
    const answer = async (validity: Validity) => {
      const answered = await route.handle(request);
      if (!this.#staysPrepared(id, isList, answered.content?.parts ?? [])) return;
      await this.#sendRestAnswer(id, answered, validity);
    };
    this.#renewals.add(id, { on, isList, answer });
  }

  /** Gives up preparing an answer that turns out to be a stream, or a list that is none. */
  #staysPrepared(id: number, isList: boolean, parts: readonly BodyPart[]): boolean {
    const streams = parts.filter((part): part is AsyncIterable<Buffer> => !Buffer.isBuffer(part));
    if (isList ? streams[0] instanceof SharedStream : streams.length === 0) return true;
    for (const stream of streams) abandon(stream[Symbol.asyncIterator]());
    this.#renewals.delete(id);
    return false;
  }

  renewNoMore(id: number): void {
    this.#renewals.delete(id);
  }

  cancel(id: number, reason: Error): void {
    this.#running.get(id)?.cancel(reason);
  }

  settle(question: number, outcome: Outcome): void {
    const asked = this.#questions.get(question);
    this.#questions.delete(question);
    if ("value" in outcome) asked?.resolve(outcome.value);
    else asked?.reject(receiveThrown(outcome.thrown));
  }

  /** Nobody waits for anything any more. */
  close(reason: Error): void {
    for (const running of this.#running.values()) running.cancel(reason);
    for (const { reject } of this.#questions.values()) reject(reason);
    this.#questions.clear();
    this.#stopRenewing();
    this.#renewals.clear();
  }

  #begin(id: number): RunningCall {
    const running = new RunningCall(id, this.#ask);
    this.#running.set(id, running);
    return running;
  }

  /** Reads and makes a long call when others of its kind leave room, unless nobody waits for it by then. Never rejects. */
  async #callInTurn(
    running: RunningCall,
    position: number,
    message: Uint8Array,
    paramsOf: (message: unknown) => Params,
  ): Promise<void> {
    if (this.#longCalls < LONG_CALLS_AT_ONCE) this.#longCalls++;
    else await new Promise<void>((resolve) => this.#waitingCalls.push(resolve));
    await yieldToEventLoop();
    try {
      if (running.over) throw running.over;
      await this.#call(running, position, paramsOf(await parseMessageInSlices(message)));
    } catch (error) {
      this.#fail(running, error);
    }
    const next = this.#waitingCalls.shift();
    if (next) next();
    else this.#longCalls--;
  }

  /** Never rejects. */
  #call(running: RunningCall, position: number, params: Params): Promise<void> {
    const method = this.#asked.methods[position]!;
    const validity = method.isCacheable ? this.#validityOf(method.cachePolicy?.(params)) : undefined;
    return method.call(params, running, running).then(
      (answer) => this.#answer(running, answer, validity),
      (error: unknown) => this.#fail(running, error),
    );
  }

  #answer(running: RunningCall, { body, meta, headers }: Answer, validity: Validity | undefined): void {
    const send = (passed: PassedBody) => {
      this.#running.delete(running.id);
      this.#outbox.send(["answer", running.id, passed, meta, headers, validity], passed);
    };
    const copy = Buffer.isBuffer(body) ? passLargeCopy(body) : this.#streams.open(body);
    if (copy instanceof Promise) void copy.then(send);
    else send(copy);
  }

  /** To be called before the answer is made: it may or may not include a change that comes meanwhile. */
  #validityOf(policy: CachePolicy | undefined): Validity | undefined {
    if (policy === undefined) return undefined;
    const { on, isPreparedAhead } = policy;
    if (on === "nothing") return "always";
    return { on, revision: Atomics.load(this.#asked.revision.memory, REVISION_PLACES[on]), isPreparedAhead };
  }

  #answerRequest({ id }: RunningCall, answer: RestAnswer, validity: Validity | undefined): Promise<void> | undefined {
    this.#running.delete(id);
    return this.#sendRestAnswer(id, answer, validity);
  }

  /** Gives a promise where a part is so long that it is copied in turns. */
  #sendRestAnswer(id: number, answer: RestAnswer, validity: Validity | undefined): Promise<void> | undefined {
    const copies = answer.content && joined(answer.content.parts).map(copyOfBuffer);
    if (copies === undefined || areMade(copies)) {
      this.#sendCopies(id, answer, copies, validity);
      return undefined;
    }
    return Promise.all(copies).then((made) => this.#sendCopies(id, answer, made, validity));
  }

  #sendCopies(
    id: number,
    { status, headers, content, lasting, tag, feed }: RestAnswer,
    copies: readonly CopiedPart[] | undefined,
    validity: Validity | undefined,
  ): void {
    // A stream is opened when its answer is sent: its first chunks come right after it.
    const parts = copies?.map((part) => (isBytes(part) ? part : this.#streams.open(part)));
    const passed: PassedRestAnswer = [status, headers, content?.format, parts, lasting, tag, feed?.topics];
    this.#outbox.send(["rest answer", id, validity, ...passed], ...(parts ?? []));
  }

  #fail({ id }: RunningCall, error: unknown): void {
    this.#running.delete(id);
    this.#outbox.send(["thrown", id, passThrown(error)]);
  }

  readonly #ask: Ask = (message) =>
    new Promise((resolve, reject) => {
      const question = ++this.#lastQuestion;
      this.#questions.set(question, { resolve: resolve as Question["resolve"], reject });
      this.#outbox.send(message(question));
    });
}

/** Asks the thread of the servers for something. */
type Ask = <T>(message: (question: number) => ToThread) => Promise<T>;

/** A call under way, as the method sees it: who calls, and whether somebody waits. */
class RunningCall implements Caller, Waiting {
  readonly id: number;
  readonly #ask: Ask;
  #controller: AbortController | undefined;
  #over: Error | undefined;

  /** Why nobody waits for the answer any more. */
  get over(): Error | undefined {
    return this.#over;
  }

  constructor(id: number, ask: Ask) {
    this.id = id;
    this.#ask = ask;
  }

  /** Made for who asks for it, since most calls end before they could be given up. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over) this.#controller.abort(this.#over);
    }
    return this.#controller.signal;
  }

  cancel(reason: Error): void {
    this.#over ??= reason;
    this.#controller?.abort(this.#over);
  }

  subscribe({ topics }: Feed): Promise<string> {
    return this.#ask((question) => ["subscribe", question, this.id, topics]);
  }

  unsubscribe(subscription: string): Promise<boolean> {
    return this.#ask((question) => ["unsubscribe", question, this.id, subscription]);
  }
}

const bytesOf = (json: string | Uint8Array): Uint8Array => (typeof json === "string" ? Buffer.from(json) : json);

/** A part of a body as it can be passed on; streams are not copied. */
type CopiedPart = PassedBytes | AsyncIterable<Buffer>;

const isBytes = (part: CopiedPart): part is PassedBytes => typeof part === "string" || part instanceof Uint8Array;

function copyOfBuffer(part: BodyPart): CopiedPart | Promise<CopiedPart> {
  return Buffer.isBuffer(part) ? passLargeCopy(part) : part;
}

function areMade(copies: readonly (CopiedPart | Promise<CopiedPart>)[]): copies is readonly CopiedPart[] {
  return !copies.some((copy) => copy instanceof Promise);
}

/** The request of a client as the route gets it. */
function requestTo(
  route: RestRoute,
  [url, params, headers = {}, format, body]: PassedRequest,
  waiting: Waiting,
): RestRequest {
  const bytes = body === undefined ? undefined : received(body);
  return new RequestToRoute(route, { url, params, headers, format, body: bytes, waiting });
}

/** The beginning and the end of an answer are a few bytes each. */
const JOINED_BELOW_BYTES = 256 * 1024;

/** Small buffers that follow each other become one. */
function joined(parts: readonly BodyPart[]): BodyPart[] {
  const whole: BodyPart[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    const canJoin = Buffer.isBuffer(last) && Buffer.isBuffer(part) && last.length + part.length < JOINED_BELOW_BYTES;
    if (canJoin) whole[whole.length - 1] = Buffer.concat([last, part]);
    else whole.push(part);
  }
  return whole;
}
