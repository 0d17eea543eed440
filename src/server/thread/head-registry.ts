import { type Excerpt, type SharedRegistry, validatorCount, writeExcerpt } from "../../json/registry-excerpt.ts";
import type { Answer, Params } from "../method-table.ts";
import type { RestAnswer, RestRequest } from "../rest/route-table.ts";
import { type LentRegistry, REVISION_PLACES } from "./protocol.ts";

const HEAD = "head";
/** When nobody has asked for so long, the memory is not lent again before somebody does. */
const ASKED_WITHIN_MS = 30_000;
/** Calls about more validators go to the main thread, which writes their answers in slices. */
const MAX_VALIDATORS = 256;
/** One way to write an index. All others, also wrong ones, are left to the main thread, as public keys are. */
const INDEX = /^(0|[1-9]\d{0,8})$/;
const QUERY = /^id=(\d+(?:,\d+)*)$/;

/** Whether a call with these parameters asks for something of the head. */
export const asksForHead = (params: Params): boolean => (Array.isArray(params) ? params[0] : params.state_id) === HEAD;

/**
 * Answers calls about a few validators of the head, given by index, as the main thread would: from memory that it has lent, as long
 * as that is the head's.
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
  call(excerpt: Excerpt, params: Params): Answer | undefined {
    const registry = this.#current();
    const body = registry && Array.isArray(params) ? excerptOf(excerpt, registry, params) : undefined;
    return registry && body && { body, meta: registry.meta, headers: registry.headers };
  }

  /** Undefined when the main thread has to be asked. */
  request(excerpt: Excerpt, { params, query, format }: RestRequest): RestAnswer | undefined {
    const registry = this.#current();
    if (registry === undefined || format !== "json") return undefined;
    const ids = QUERY.exec(query)?.[1]?.split(",");
    if (ids === undefined && query !== "") return undefined;
    const inPath = Object.values(params);
    const body = excerptOf(excerpt, registry, ids ? [...inPath, ids] : inPath);
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

function excerptOf(excerpt: Excerpt, registry: SharedRegistry, params: unknown[]): Buffer | undefined {
  const [state, asked] = params;
  if (state !== HEAD || params.length !== 2) return undefined;
  if (excerpt !== "validator") {
    const indices = Array.isArray(asked) ? indicesOf(asked, validatorCount(registry)) : undefined;
    return indices && writeExcerpt(excerpt, registry, indices);
  }
  const index = indexOf(asked);
  if (index === undefined || index >= validatorCount(registry)) return undefined;
  return writeExcerpt(excerpt, registry, Uint32Array.of(index));
}

/** Those that are there, ascending; undefined where the main thread has to say what is wrong with them. */
function indicesOf(ids: readonly unknown[], count: number): Uint32Array | undefined {
  if (ids.length === 0 || ids.length > MAX_VALIDATORS) return undefined;
  const indices = new Set<number>();
  for (const id of ids) {
    const index = indexOf(id);
    if (index === undefined || indices.has(index)) return undefined;
    indices.add(index);
  }
  return Uint32Array.from(indices)
    .filter((index) => index < count)
    .sort();
}

function indexOf(id: unknown): number | undefined {
  return typeof id === "string" && INDEX.test(id) ? Number(id) : undefined;
}
