import { parseMessage } from "../../json/parse.ts";
import { indexOfKey, type SharedRegistry, validatorCount, writeExcerpt } from "../../json/registry-excerpt.ts";
import type { Answer, ExcerptCall, Params } from "../method-table.ts";
import type { RestAnswer, RestRequest } from "../rest/route-table.ts";
import { type LentRegistry, REVISION_PLACES } from "./protocol.ts";

const HEAD = "head";
/** When nobody has asked for so long, the memory is not lent again before somebody does. */
const ASKED_WITHIN_MS = 30_000;
/** Calls about more validators go to the main thread, which writes their answers in slices. */
const MAX_VALIDATORS = 256;
/** The body of a request about so many is shorter, unless they are written in an unusual way. */
const MAX_BODY_BYTES = 32 * 1024;
/** One way to write an index, and one for a public key. All others, also wrong ones, are left to the main thread. */
const INDEX = /^(0|[1-9]\d{0,8})$/;
const PUBLIC_KEY = /^0x[0-9a-fA-F]{96}$/;
const QUERY = /^id=(\w+(?:,\w+)*)$/;
const JSON_TYPE = /^application\/json(;|$)/;

/** Whether a call with these parameters asks for something of the head. */
export const asksForHead = (params: Params): boolean => (Array.isArray(params) ? params[0] : params.state_id) === HEAD;

/**
 * Answers calls about a few validators of the head, given by index or public key, as the main thread would: from memory that it has
 * lent, as long as that is the head's.
 */
export class HeadRegistryAnswers {
  readonly #revision: Int32Array;
  readonly #now: () => number;
  #lent: LentRegistry | undefined;
  #askedAt: number;

  constructor(revision: Int32Array, now: () => number = () => performance.now()) {
    this.#revision = revision;
    this.#now = now;
    this.#askedAt = now();
  }

  /** Gives whether somebody has asked lately. */
  lend(registry: LentRegistry): boolean {
    this.#lent = registry;
    return this.#now() - this.#askedAt < ASKED_WITHIN_MS;
  }

  /** Undefined when the main thread has to be asked. */
  call(excerpt: ExcerptCall, params: Params): Answer | undefined {
    const registry = this.#current();
    const body = registry && excerptOf(excerpt, registry, Array.isArray(params) ? params : byPosition(excerpt, params));
    return registry && body && { body, meta: registry.meta, headers: registry.headers };
  }

  /** Undefined when the main thread has to be asked. */
  request(verb: "GET" | "POST", excerpt: ExcerptCall, request: RestRequest): RestAnswer | undefined {
    const registry = this.#current();
    const { params, query, format } = request;
    if (registry === undefined || format !== "json") return undefined;
    const asked = verb === "POST" ? bodyOf(request) : QUERY.exec(query)?.[1]?.split(",");
    if (asked === undefined && (query !== "" || verb === "POST")) return undefined;
    const inPath = Object.values(params);
    const body = excerptOf(excerpt, registry, asked === undefined ? inPath : [...inPath, asked]);
    if (body === undefined) return undefined;
    const [before, after] = registry.around;
    const parts = [Buffer.from(before), body, Buffer.from(after)];
    return { status: 200, headers: registry.headers, content: { format, parts }, lasting: "never" };
  }

  #current(): LentRegistry | undefined {
    this.#askedAt = this.#now();
    if (this.#lent?.revision !== Atomics.load(this.#revision, REVISION_PLACES.head)) this.#lent = undefined;
    return this.#lent;
  }
}

/** The parameters of a call by name, where they are the two that matter. */
function byPosition({ by }: ExcerptCall, { state_id, [by]: asked, ...others }: Record<string, unknown>): unknown[] {
  return Object.keys(others).length === 0 ? [state_id, asked] : [];
}

/** What the body of a request says, if that can be told so easily. */
function bodyOf({ query, headers, body }: RestRequest): unknown {
  const isJson = JSON_TYPE.test(headers["content-type"] ?? "");
  if (query !== "" || !isJson || body === undefined || body.length > MAX_BODY_BYTES) return undefined;
  try {
    return parseMessage(body);
  } catch {
    return undefined;
  }
}

function excerptOf(excerpt: ExcerptCall, registry: SharedRegistry, params: unknown[]): Buffer | undefined {
  const [state, asked] = params;
  if (state !== HEAD || params.length !== 2) return undefined;
  const { tells, by } = excerpt;
  if (tells !== "validator") {
    const ids = by === "filter" ? idsOf(asked) : asked;
    const indices = Array.isArray(ids) ? indicesOf(ids, registry) : undefined;
    return indices && writeExcerpt(tells, registry, indices);
  }
  const index = indexOf(asked, registry);
  if (index === undefined || index >= validatorCount(registry)) return undefined;
  return writeExcerpt(tells, registry, Uint32Array.of(index));
}

/** The ids of a filter that has nothing else. */
function idsOf(filter: unknown): unknown {
  if (typeof filter !== "object" || filter === null) return undefined;
  const { ids, statuses, ...others } = filter as { ids?: unknown; statuses?: unknown };
  return (statuses ?? null) === null && Object.keys(others).length === 0 ? ids : undefined;
}

/** Those that are there, ascending; undefined where the main thread has to say what is wrong with them. */
function indicesOf(ids: readonly unknown[], registry: SharedRegistry): Uint32Array | undefined {
  if (ids.length === 0 || ids.length > MAX_VALIDATORS) return undefined;
  const count = validatorCount(registry);
  const indices = new Set<number>();
  for (const id of ids) {
    const index = indexOf(id, registry);
    if (index === undefined || indices.has(index)) return undefined;
    indices.add(index);
  }
  return Uint32Array.from(indices)
    .filter((index) => index < count)
    .sort();
}

function indexOf(id: unknown, registry: SharedRegistry): number | undefined {
  if (typeof id !== "string") return undefined;
  if (INDEX.test(id)) return Number(id);
  return PUBLIC_KEY.test(id) ? indexOfKey(registry, Buffer.from(id.slice(2), "hex")) : undefined;
}
