import { hash } from "node:crypto";
import { SingleFlight } from "../../async/single-flight.ts";
import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { ByteBudget } from "../../server/http/exchanges.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Conditions } from "../condition.ts";
import { type Question, UpstreamError, type UpstreamResponse } from "../exchange.ts";
import type { GatewayObserver } from "../observer.ts";
import type { CacheOptions } from "../options.ts";
import { toldHeadSlot } from "../upstream/told-head.ts";
import { gather } from "./gather.ts";
import {
  type Finalization,
  finalizationBy,
  lastingOf,
  lastingUnlessFinal,
  mayBeFinal,
  type WholeResponse,
} from "./lasting.ts";
import { MemoryCache } from "./memory-cache.ts";
import { type Claim, RedisCache } from "./redis-cache.ts";

export interface ReadsOptions {
  /** Asks the upstreams. */
  ask(question: Question): Promise<UpstreamResponse>;
  revision: Int32Array;
  facts: ChainFacts;
  memoryBytes: number;
  cache?: CacheOptions;
  conditions: Pick<Conditions, "all" | "floor" | "rewinds">;
  timers: Timers;
  logger: Logger;
  observer?: Pick<GatewayObserver, "looked" | "cacheIs">;
}

/** What may turn out to be the list of a million is not gathered for as long as what tells its length before. */
const LONGEST_UNTOLD_BYTES = 4 * 1024 * 1024;

/** What all who asked at the same time get. A body that is a stream is for one of them. */
interface Shared {
  response: UpstreamResponse;
  isTaken: boolean;
}

/** Bodies that have not come to their end may take this part of the memory, beside what is kept there. */
const GATHERED_PART = 4;

/** Answers questions from what is kept, or has an upstream asked: once for all who ask the same at the same time. */
export class Reads {
  readonly #ask: ReadsOptions["ask"];
  readonly #observer: ReadsOptions["observer"];
  readonly #conditions: ReadsOptions["conditions"];
  readonly #finalization: Finalization;
  readonly #memory: MemoryCache;
  readonly #cache: RedisCache | undefined;
  readonly #maxBodyBytes: number;
  readonly #gathered: ByteBudget;
  readonly #underWay = new SingleFlight<string, Shared>();

  constructor({ ask, revision, facts, memoryBytes, cache, conditions, timers, logger, observer }: ReadsOptions) {
    this.#ask = ask;
    this.#observer = observer;
    this.#conditions = conditions;
    this.#finalization = finalizationBy(conditions, facts);
    this.#memory = new MemoryCache({ bytes: memoryBytes, revision, conditions, facts, timers });
    this.#cache = cache && new RedisCache({ cache, facts, conditions, timers, logger, observer });
    this.#maxBodyBytes = Math.max(this.#memory.maxBodyBytes, this.#cache?.maxBodyBytes ?? 0);
    this.#gathered = new ByteBudget(Math.max(this.#maxBodyBytes, memoryBytes / GATHERED_PART));
  }

  /** Of what is kept in memory, the same object every time. */
  read(question: Question): Promise<UpstreamResponse> {
    if (!this.#mayBeKept(question)) return this.#ask(question);
    const key = keyOf(question);
    const kept = this.#memory.get(key);
    this.#observer?.looked("memory", kept !== undefined);
    return kept ?? this.#readShared(key, question);
  }

  async close(): Promise<void> {
    await this.#cache?.close();
  }

  #mayBeKept(question: Question): boolean {
    return lastingUnlessFinal(question) !== undefined || mayBeFinal(question, this.#finalization);
  }

  async #readShared(key: string, question: Question): Promise<UpstreamResponse> {
    const { head, status, floor } = this.#memory.moment();
    // Who has heard of something new does not join those who asked before it.
    const sameTime = `${head} ${status} ${floor} ${key}`;
    const shared = await this.#underWay.run(sameTime, question.waiting.signal, async (_, abortSignal) => ({
      response: await this.#find(key, { ...question, waiting: { signal: abortSignal() } }),
      isTaken: false,
    }));
    if (Buffer.isBuffer(shared.response.body)) return shared.response;
    if (shared.isTaken) return this.#ask(question);
    shared.isTaken = true;
    return shared.response;
  }

  async #find(key: string, question: Question): Promise<UpstreamResponse> {
    if (this.#cache === undefined || !mayBeFinal(question, this.#finalization)) return this.#askToKeep(key, question);
    const found = await this.#cache.find(key, question.waiting.signal);
    if (found === undefined || "claim" in found) return this.#askToKeep(key, question, found?.claim);
    this.#memory.put(key, found.answer, "final", this.#memory.moment());
    return found.answer;
  }

  async #askToKeep(key: string, question: Question, claim?: Claim): Promise<UpstreamResponse> {
    let final: WholeResponse | undefined;
    try {
      const since = this.#memory.moment();
      const response = await this.#askWhole(question);
      if (!isWhole(response)) return response;
      const lasting = lastingOf(question, response, this.#finalization);
      const headSlot = toldHeadSlot(question, response);
      const isOfNewHead = headSlot !== undefined && headSlot >= this.#knownHeadSlot(response);
      // An upstream may tell of its head before its answers follow.
      if (lasting !== undefined && (headSlot === undefined || isOfNewHead)) {
        this.#memory.put(key, response, lasting, since, isOfNewHead);
      }
      if (lasting === "final" && since.rewinds === this.#memory.moment().rewinds) final = response;
      return response;
    } finally {
      claim?.end(final);
    }
  }

  /** How far the upstream is known to have come, or clients have been told that the head is. */
  #knownHeadSlot({ upstream }: UpstreamResponse): number {
    const { all, floor } = this.#conditions;
    return Math.max(floor, all.find((condition) => condition.upstream === upstream)?.head?.slot ?? 0);
  }

  /** Of an answer that breaks off before anybody has seen any of it, another upstream may have the whole. */
  async #askWhole(question: Question): Promise<UpstreamResponse> {
    const response = await this.#ask(question);
    try {
      return await this.#whole(response, question.waiting);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      const lacking = new Set([...(question.lacking ?? []), response.upstream]);
      return this.#whole(await this.#ask({ ...question, lacking }), question.waiting);
    }
  }

  /** With its body in one piece, if that can be kept, and if not too many others are on their way. */
  async #whole(response: UpstreamResponse, { signal }: Question["waiting"]): Promise<UpstreamResponse> {
    const { status, headers, body } = response;
    if (Buffer.isBuffer(body) || status !== 200) return response;
    const length = headers["content-length"];
    const maxBytes = length === undefined ? Math.min(this.#maxBodyBytes, LONGEST_UNTOLD_BYTES) : this.#maxBodyBytes;
    if (Number(length ?? 0) > maxBytes) return response;
    return { ...response, body: await gather(body, { maxBytes, budget: this.#gathered }, signal) };
  }
}

function isWhole(response: UpstreamResponse): response is WholeResponse {
  return Buffer.isBuffer(response.body);
}

/** By all that the answer follows from beside the chain. What is accepted is in the format. */
function keyOf({ request: { verb, url, headers, body }, format }: Question): string {
  let key = `${verb} ${format} ${url}`;
  for (const name in headers) if (name !== "accept") key += ` ${name}=${headers[name]}`;
  return body === undefined ? key : `${key} ${hash("sha256", body, "base64url")}`;
}
