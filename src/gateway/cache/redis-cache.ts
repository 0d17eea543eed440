import { hash, randomBytes } from "node:crypto";
import { Backoff } from "../../async/backoff.ts";
import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import type { GatewayObserver } from "../metrics/gateway-observer.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { CacheSettings } from "../settings.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import type { BufferedResponse } from "./cache-lifetime.ts";
import { RedisConnection } from "./redis-connection.ts";
import { CODEC_VERSION, decodeResponse, encodeResponse, MAX_BODY_BYTES } from "./response-codec.ts";

interface RedisCacheOptions {
  cache: CacheSettings;
  chainSpec: Pick<ChainSpec, "genesisValidatorsRoot" | "genesisTime">;
  health: Pick<HealthTracker, "finalityReverts">;
  timers: Timers;
  logger: Logger;
  observer?: Pick<GatewayObserver, "onCacheState" | "onCacheLookup">;
}

/** Lock of the gateway that fetches an answer while others wait for it. */
export interface FetchLock {
  /** Must be called to release the lock, with the answer if it can be stored. */
  end(answer: BufferedResponse | undefined): void;
}

/** Result of a lookup: an answer, or the lock of another gateway. */
interface Lookup {
  answer: BufferedResponse | undefined;
  isLocked: boolean;
}

/** Returns true if a stored answer may be used. */
type AnswerCheck = (answer: BufferedResponse) => boolean;

/** Keys of an answer and of its lock. */
interface CacheKeys {
  key: string;
  lock: string;
}

interface AnswerLookup extends CacheKeys {
  isValid: AnswerCheck;
}

/** Larger compressed answers are not stored, because reading them takes too long. */
const MAX_STORED_BYTES = 1024 * 1024;
/** Expiry of the lock of a gateway that does not return. */
const LOCK_MILLIS = 10_000;
/** How long other gateways wait for the lock holder before they fetch themselves. */
const MAX_WAIT_MILLIS = 2000;
/** How often stale entries are purged after a revert behind finality. */
const PURGE_INTERVAL_MILLIS = 500;
const FIRST_POLL_MILLIS = 4;
const MAX_POLL_MILLIS = 64;
/** Longer keys are hashed. */
const MAX_KEY_LENGTH = 250;

const TOKEN = /^claim:[\w-]{16}$/;
/** Returns answer and lock. If there is neither, acquires the lock atomically. */
const LOOK_UP_OR_LOCK = `
local found = redis.call("MGET", KEYS[1], KEYS[2])
if not found[1] and not found[2] then redis.call("SET", KEYS[2], ARGV[1], "PX", ARGV[2]) end
return found`;
/** Releases the lock only if it still holds this gateway's token. */
const RELEASE_LOCK = `if redis.pcall("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

/** Cache of final answers in Redis or Valkey, shared by all gateways of a chain. */
export class RedisCache {
  /** Larger bodies are not stored. */
  readonly maxBodyBytes = MAX_BODY_BYTES;
  readonly #options: RedisCacheOptions;
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #stopTimer: () => void;
  /** Value of `finalityReverts` at the last purge. */
  #purgedAtRevert = 0;
  #isPurging = false;

  constructor(options: RedisCacheOptions) {
    const { cache, chainSpec, timers, logger, observer } = options;
    this.#options = options;
    // A restarted dev chain keeps its validators, so the genesis time is needed too.
    this.#prefix = `${cache.prefix}${CODEC_VERSION}:${chainSpec.genesisValidatorsRoot}:${chainSpec.genesisTime}:`;
    const { key, lock } = this.#idOf("probe");
    this.#connection = new RedisConnection({ url: cache.url, probes: [key, lock], timers, logger, observer });
    this.#stopTimer = timers.every(PURGE_INTERVAL_MILLIS, () => {
      if (!this.#isPurged) void this.#purge();
    });
  }

  /**
   * Returns the stored answer, after waiting for another gateway that is fetching it. Otherwise returns a lock, and the
   * caller fetches the answer. Deletes an invalid answer. Undefined if Redis is unavailable or still holds answers from
   * before a revert. Rejects when the signal is aborted.
   */
  async find(
    call: string,
    isValid: AnswerCheck,
    signal: AbortSignal,
  ): Promise<{ answer: BufferedResponse } | { lock: FetchLock } | undefined> {
    if (!this.#connection.isUp) return undefined;
    if (!this.#isPurged) {
      void this.#purge();
      return undefined;
    }
    const keys = { ...this.#idOf(call), isValid };
    const token = `claim:${randomBytes(12).toString("base64url")}`;
    let lookup = await this.#lookUpOrLock(keys, token);
    this.#options.observer?.onCacheLookup("cache", lookup?.answer !== undefined);
    if (lookup?.isLocked) lookup = await this.#awaitResponse(keys, signal);
    if (lookup === undefined) return undefined;
    if (!lookup.answer) return { lock: this.#lock(keys, token) };
    // A revert may have happened during the lookup.
    return this.#isPurged ? { answer: lookup.answer } : undefined;
  }

  async close(): Promise<void> {
    this.#stopTimer();
    if (!this.#isPurged) await this.#purge();
    await this.#connection.close();
  }

  get #isPurged(): boolean {
    return this.#purgedAtRevert === this.#options.health.finalityReverts;
  }

  /** Only looks up if Redis does not accept writes. */
  async #lookUpOrLock(keys: AnswerLookup, token: string): Promise<Lookup | undefined> {
    const { key, lock } = keys;
    const script = ["EVAL", LOOK_UP_OR_LOCK, "2", key, lock, token, String(LOCK_MILLIS)];
    const reply = this.#connection.isWritable
      ? await this.#connection.write(script, { isOnRequestPath: true })
      : undefined;
    return reply === undefined ? this.#lookUp(keys) : this.#parseLookup(reply, keys);
  }

  async #lookUp(keys: AnswerLookup): Promise<Lookup | undefined> {
    const reply = await this.#connection.read(["MGET", keys.key, keys.lock]);
    return reply === undefined ? undefined : this.#parseLookup(reply, keys);
  }

  async #parseLookup(reply: unknown, { key, isValid }: AnswerLookup): Promise<Lookup> {
    const [stored, token] = Array.isArray(reply) ? reply : [];
    const decoded = Buffer.isBuffer(stored) ? await decodeResponse(key, stored).catch(() => undefined) : undefined;
    const answer = decoded && isValid(decoded) ? decoded : undefined;
    if (stored && !answer) this.#connection.sendUnawaited(["DEL", key]);
    return { answer, isLocked: TOKEN.test(String(token)) };
  }

  /** Polls until the answer is stored, the lock is released, or a timeout. */
  async #awaitResponse(keys: AnswerLookup, signal: AbortSignal): Promise<Lookup | undefined> {
    const { timers } = this.#options;
    const end = timers.now() + MAX_WAIT_MILLIS;
    const backoff = new Backoff({ firstMillis: FIRST_POLL_MILLIS, maxMillis: MAX_POLL_MILLIS });
    for (;;) {
      await timers.sleep(backoff.next(), signal);
      const lookup = await this.#lookUp(keys);
      if (!lookup?.isLocked || lookup.answer || timers.now() >= end) return lookup;
    }
  }

  /**
   * Deletes all answers after a revert. Every gateway does this, because another one may have stored an answer before
   * it noticed the revert. Never rejects.
   */
  async #purge(): Promise<void> {
    if (this.#isPurging) return;
    this.#isPurging = true;
    const { finalityReverts } = this.#options.health;
    const isDone = await this.#deleteAll();
    this.#isPurging = false;
    if (isDone) this.#purgedAtRevert = finalityReverts;
  }

  /** Returns true on success. */
  async #deleteAll(): Promise<boolean> {
    const pattern = `${this.#prefix.replace(/[*?[\]\\^]/g, "\\$&")}answer:*`;
    let cursor = "0";
    do {
      const reply = await this.#connection.write(["SCAN", cursor, "MATCH", pattern, "COUNT", "1000"], {
        isOnRequestPath: false,
      });
      if (!Array.isArray(reply)) return false;
      const [next, keys] = reply as [Buffer, Buffer[]];
      if (keys.length > 0) {
        const removed = await this.#connection.write(["UNLINK", ...keys], { isOnRequestPath: false });
        if (removed === undefined) return false;
      }
      cursor = String(next);
    } while (cursor !== "0");
    return true;
  }

  #lock({ key, lock }: CacheKeys, token: string): FetchLock {
    const sendUnawaited = () => this.#connection.sendUnawaited(["EVAL", RELEASE_LOCK, "1", lock, token]);
    return {
      end: (answer) => {
        if (answer === undefined || answer.body.length > MAX_BODY_BYTES) sendUnawaited();
        else void this.#write(key, answer).finally(sendUnawaited);
      },
    };
  }

  async #write(key: string, answer: BufferedResponse): Promise<void> {
    const stored = await encodeResponse(key, answer);
    if (stored.length > MAX_STORED_BYTES) return;
    const { ttlSeconds } = this.#options.cache;
    await this.#connection.write(["SET", key, stored, "EX", String(ttlSeconds)], { isOnRequestPath: false });
  }

  #idOf(call: string): CacheKeys {
    const isLong = call.length > MAX_KEY_LENGTH;
    const name = isLong ? hash("sha256", call, "base64url") : call;
    return { key: `${this.#prefix}answer:${name}`, lock: `${this.#prefix}claim:${name}` };
  }
}

/** Separates the cache by quorum, so that a quorum read never returns the answer of a smaller quorum. */
export function withQuorumPrefix(cache: CacheSettings, quorum: number): CacheSettings {
  return quorum > 1 ? { ...cache, prefix: `${cache.prefix}quorum-${quorum}:` } : cache;
}
