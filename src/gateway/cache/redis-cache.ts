import { hash, randomBytes } from "node:crypto";
import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Conditions } from "../condition.ts";
import type { GatewayObserver } from "../observer.ts";
import type { CacheOptions } from "../options.ts";
import type { WholeResponse } from "./lasting.ts";
import { RedisLink } from "./redis-link.ts";
import { decodeAnswer, encodeAnswer, MAX_BODY_BYTES, STORED_FORM } from "./stored-answer.ts";

interface RedisCacheOptions {
  cache: CacheOptions;
  facts: Pick<ChainFacts, "genesisValidatorsRoot" | "genesisTime">;
  conditions: Pick<Conditions, "rewinds">;
  timers: Timers;
  logger: Logger;
  observer?: Pick<GatewayObserver, "cacheIs" | "looked">;
}

/** Somebody asks an upstream, and others wait for what it brings. */
export interface Claim {
  /** Has to be called, with the answer if it can be stored. */
  end(answer: WholeResponse | undefined): void;
}

/** What is there: an answer, or the claim of somebody who asks for it. */
interface Found {
  answer: WholeResponse | undefined;
  isClaimed: boolean;
}

/** Where the answer to a question is, and the claim of whoever asks for it. */
interface Place {
  key: string;
  claim: string;
}

/** A larger answer, compressed, is not stored: to read it would take too long. */
const MAX_STORED_BYTES = 1024 * 1024;
/** A gateway that asks and does not come back is not waited for any longer. */
const CLAIM_MILLIS = 10_000;
/** How long others wait for what one asks, before they ask themselves. */
const MAX_WAIT_MILLIS = 2000;
/** How soon what is there of before the chain has gone back is removed, though nobody asks. */
const CLEAN_MILLIS = 500;
const FIRST_LOOK_MILLIS = 4;
const LONGEST_LOOK_MILLIS = 64;
/** Questions that are longer have their hash in the key. */
const MAX_KEY_LENGTH = 250;

const TOKEN = /^claim:[\w-]{16}$/;
/** The answer and the claim that are there; where there is neither, the claim becomes ours in the same moment. */
const LOOK_OR_CLAIM = `
local found = redis.call("MGET", KEYS[1], KEYS[2])
if not found[1] and not found[2] then redis.call("SET", KEYS[2], ARGV[1], "PX", ARGV[2]) end
return found`;
/** Only whoever has put a token there removes it, whatever is there by now. */
const REMOVE_OWN = `if redis.pcall("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

/** Answers in Redis or Valkey, which all gateways of a chain share. */
export class RedisCache {
  /** A larger body is not stored. */
  readonly maxBodyBytes = MAX_BODY_BYTES;
  readonly #options: RedisCacheOptions;
  readonly #link: RedisLink;
  readonly #prefix: string;
  readonly #endWatch: () => void;
  /** As many times as the chain had gone back when what was there of before was removed. */
  #cleanedAfter = 0;
  #isCleaning = false;

  constructor(options: RedisCacheOptions) {
    const { cache, facts, timers, logger, observer } = options;
    this.#options = options;
    // Dev chains that are made anew have the validators of those before them.
    this.#prefix = `${cache.prefix}${STORED_FORM}:${facts.genesisValidatorsRoot}:${facts.genesisTime}:`;
    const { key, claim } = this.#placeOf("probe");
    this.#link = new RedisLink({ url: cache.url, probes: [key, claim], timers, logger, observer });
    this.#endWatch = timers.every(CLEAN_MILLIS, () => {
      if (!this.#isClean) void this.#clean();
    });
  }

  /**
   * The answer, if it is there or if another gateway brings it meanwhile; or else a claim for who asks an upstream now. Undefined
   * when the engine does not answer, or has answers from before the chain has gone back. Rejects when the signal is aborted.
   */
  async find(question: string, signal: AbortSignal): Promise<{ answer: WholeResponse } | { claim: Claim } | undefined> {
    if (!this.#link.isUp) return undefined;
    if (!this.#isClean) {
      void this.#clean();
      return undefined;
    }
    const place = this.#placeOf(question);
    const token = `claim:${randomBytes(12).toString("base64url")}`;
    let found = await this.#lookOrClaim(place, token);
    this.#options.observer?.looked("cache", found?.answer !== undefined);
    if (found?.isClaimed) found = await this.#await(place, signal);
    if (found === undefined) return undefined;
    if (!found.answer) return { claim: this.#claim(place, token) };
    // The chain may have gone back meanwhile.
    return this.#isClean ? { answer: found.answer } : undefined;
  }

  async close(): Promise<void> {
    this.#endWatch();
    if (!this.#isClean) await this.#clean();
    await this.#link.close();
  }

  get #isClean(): boolean {
    return this.#cleanedAfter === this.#options.conditions.rewinds;
  }

  /** An engine that stores nothing now is only looked at. */
  async #lookOrClaim(place: Place, token: string): Promise<Found | undefined> {
    const { key, claim } = place;
    const script = ["EVAL", LOOK_OR_CLAIM, "2", key, claim, token, String(CLAIM_MILLIS)];
    const reply = this.#link.isStoring ? await this.#link.store(script, { isWaitedFor: true }) : undefined;
    return reply === undefined ? this.#look(place) : this.#foundIn(reply, key);
  }

  async #look({ key, claim }: Place): Promise<Found | undefined> {
    const reply = await this.#link.read(["MGET", key, claim]);
    return reply === undefined ? undefined : this.#foundIn(reply, key);
  }

  async #foundIn(reply: unknown, key: string): Promise<Found> {
    const [stored, token] = Array.isArray(reply) ? reply : [];
    const answer = Buffer.isBuffer(stored) ? await decodeAnswer(key, stored).catch(() => undefined) : undefined;
    if (stored && !answer) this.#link.remove(["DEL", key]);
    return { answer, isClaimed: TOKEN.test(String(token)) };
  }

  /** Looks until the answer is there, whoever asks has given up, or that has taken too long. */
  async #await(place: Place, signal: AbortSignal): Promise<Found | undefined> {
    const { timers } = this.#options;
    const end = timers.now() + MAX_WAIT_MILLIS;
    for (let pause = FIRST_LOOK_MILLIS; ; pause = Math.min(2 * pause, LONGEST_LOOK_MILLIS)) {
      await timers.sleep(pause, signal);
      const found = await this.#look(place);
      if (!found?.isClaimed || found.answer || timers.now() >= end) return found;
    }
  }

  /** Every gateway does so: what one has stored before it heard that the chain has gone back is removed when it hears of it. Never rejects. */
  async #clean(): Promise<void> {
    if (this.#isCleaning) return;
    this.#isCleaning = true;
    const { rewinds } = this.#options.conditions;
    const isDone = await this.#removeAll();
    this.#isCleaning = false;
    if (isDone) this.#cleanedAfter = rewinds;
  }

  /** Whether it could be done. */
  async #removeAll(): Promise<boolean> {
    const pattern = `${this.#prefix.replace(/[*?[\]\\^]/g, "\\$&")}answer:*`;
    let cursor = "0";
    do {
      const reply = await this.#link.store(["SCAN", cursor, "MATCH", pattern, "COUNT", "1000"], { isWaitedFor: false });
      if (!Array.isArray(reply)) return false;
      const [next, keys] = reply as [Buffer, Buffer[]];
      if (keys.length > 0) {
        const removed = await this.#link.store(["UNLINK", ...keys], { isWaitedFor: false });
        if (removed === undefined) return false;
      }
      cursor = String(next);
    } while (cursor !== "0");
    return true;
  }

  #claim({ key, claim }: Place, token: string): Claim {
    const remove = () => this.#link.remove(["EVAL", REMOVE_OWN, "1", claim, token]);
    return {
      end: (answer) => {
        if (answer === undefined || answer.body.length > MAX_BODY_BYTES) remove();
        else void this.#store(key, answer).finally(remove);
      },
    };
  }

  async #store(key: string, answer: WholeResponse): Promise<void> {
    const stored = await encodeAnswer(key, answer);
    if (stored.length > MAX_STORED_BYTES) return;
    const { seconds } = this.#options.cache;
    await this.#link.store(["SET", key, stored, "EX", String(seconds)], { isWaitedFor: false });
  }

  #placeOf(question: string): Place {
    const isLong = question.length > MAX_KEY_LENGTH;
    const name = isLong ? hash("sha256", question, "base64url") : question;
    return { key: `${this.#prefix}answer:${name}`, claim: `${this.#prefix}claim:${name}` };
  }
}
