import type { Method, RestPath } from "../../api/definition.ts";
import { methods } from "../../api/method-groups.ts";
import type { Timers } from "../../async/timers.ts";
import { isReadOnly } from "../../server/access-class.ts";
import type { Params, Waiting } from "../../server/method-table.ts";
import { type ChainFacts, forkAt, slotAt } from "../chain-facts.ts";
import { type Question, UpstreamError, type UpstreamResponse } from "../exchange.ts";
import { wholeBody } from "../upstream/ask.ts";
import { answerOf, originOf } from "./answers.ts";
import { readRefusal } from "./failures.ts";
import { RestTwin, type TwinRequest } from "./rest-twin.ts";

/** Whom questions are put to. */
export interface Askable {
  /** Of what changes nothing: an answer may be one that was kept. */
  readonly reads: { read(question: Question): Promise<UpstreamResponse> };
  /** Of all else. */
  readonly upstreams: { submit(question: Question): Promise<UpstreamResponse> };
}

interface OperationsParts extends Askable {
  readonly facts: ChainFacts;
  readonly timers: Pick<Timers, "unixNow">;
}

/** A request to an upstream, for JSON unless it says otherwise. */
export type Request = TwinRequest & Partial<Pick<Question, "format">>;

/** A value that an upstream told. */
export interface Told<T> {
  readonly value: T;
  /** The headers that say who told it. */
  readonly headers: Record<string, string>;
}

const BY_NAME: ReadonlyMap<string, Method> = new Map(methods.map((method) => [method.name, method]));

export function methodNamed(name: string): Method {
  const method = BY_NAME.get(name);
  if (method === undefined) throw new Error(`There is no method ${name}.`);
  return method;
}

/** Where the standard has a method; undefined when it does not. */
export function standardPath({ rest }: Method): RestPath | undefined {
  return rest.find(({ path }) => path.startsWith("/eth/"));
}

/** Asks upstreams for operations of the standard. */
export class Operations {
  readonly #parts: OperationsParts;
  readonly #twins = new Map<string, RestTwin>();

  constructor(parts: OperationsParts) {
    this.#parts = parts;
  }

  /** The twin of calls of one method, which asks for another where that stands for it. */
  twin(called: Method, asked: Method = called, query?: Readonly<Record<string, string>>): RestTwin {
    const path = standardPath(asked);
    if (path === undefined) throw new Error(`The standard does not have ${asked.name}.`);
    return this.twinAt(path, called, asked, query);
  }

  twinAt(path: RestPath, called: Method, asked: Method = called, query?: Readonly<Record<string, string>>): RestTwin {
    const { facts, timers } = this.#parts;
    const forkOf = (slot = slotAt(facts, timers.unixNow())) => forkAt(facts, slot);
    return new RestTwin({ called, asked, path, query, forkAt: forkOf });
  }

  /** Rejects with an `UpstreamError` when there is no answer; one that refuses is read to its end. */
  async ask(method: Method, request: Request, rest: Pick<Question, "waiting" | "lacking">): Promise<UpstreamResponse> {
    return readRefusal(await this.put(method, request, rest), rest.waiting);
  }

  /** The same, but one that refuses may still have to be read. */
  put(method: Method, request: Request, rest: Pick<Question, "waiting" | "lacking">): Promise<UpstreamResponse> {
    const { reads, upstreams } = this.#parts;
    const question: Question = { method, format: "json", ...request, ...rest };
    return isReadOnly(method.access) ? reads.read(question) : upstreams.submit(question);
  }

  /** What an operation answers to a call with these parameters, whatever its status. */
  async respond(name: string, params: Params, waiting: Waiting): Promise<UpstreamResponse> {
    const method = methodNamed(name);
    let twin = this.#twins.get(name);
    if (twin === undefined) {
      twin = this.twin(method);
      this.#twins.set(name, twin);
    }
    return this.ask(method, await twin.requestFor(params), { waiting });
  }

  /** What `make` makes of the result of an operation; throws a `Failure` when that is refused. */
  async tell<T, R>(name: string, params: Params, waiting: Waiting, make: (value: T) => R): Promise<Told<R>> {
    return readValue(methodNamed(name), await this.respond(name, params, waiting), waiting, make);
  }
}

/** Beyond all that is made into another answer. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

/** The same of an answer that is there, which is read as long as somebody waits for it. */
export async function readValue<T, R>(
  method: Method,
  response: UpstreamResponse,
  { signal }: Pick<Waiting, "signal">,
  make: (value: T) => R,
): Promise<Told<R>> {
  const { upstream } = response;
  const { body } = await answerOf(method, response);
  const bytes = await wholeBody({ upstream, body }, MAX_READ_BYTES, signal);
  return { value: makeOf(bytes, { method, upstream, make }), headers: originOf(response) };
}

interface Making<T, R> {
  method: Method;
  upstream: string;
  make(value: T): R;
}

function makeOf<T, R>(bytes: Buffer, { method, upstream, make }: Making<T, R>): R {
  let cause: unknown;
  try {
    const made = make(JSON.parse(String(bytes)) as T);
    if (made !== undefined) return made;
  } catch (error) {
    cause = error;
  }
  const message = `${upstream} answered ${method.name} in a form that the standard does not have.`;
  throw new UpstreamError(upstream, message, { mayHaveArrived: true, cause });
}
