import { EventEmitter, once } from "node:events";
import { onTestFinished } from "vitest";
import { SYSTEM_TIMERS } from "../../src/async/timers.ts";
import { CachingReader } from "../../src/gateway/cache/caching-reader.ts";
import type { UpstreamCall, UpstreamResponse } from "../../src/gateway/upstream/upstream-call.ts";
import { CHAIN_SPEC, finalAnswer, methodCall, response } from "../support/gateway/cache/method-calls.ts";
import { patientTimers } from "../support/gateway/cache/patient-timers.ts";
import type { RedisServer } from "../support/gateway/redis-server.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";

export const stateRoot = (slot: number) => methodCall("get_v1_beacon_states_root", { state_id: String(slot) });
export const block = (slot: number) => methodCall("get_v2_beacon_blocks_blockId", { block_id: String(slot) });

/** Key prefix of all responses of the chain. */
export const KEY_PREFIX = `test:2:${CHAIN_SPEC.genesisValidatorsRoot}:${CHAIN_SPEC.genesisTime}:`;

/** Returns the chain's response. Blocks are long enough for compression. */
export function expectedBody({ request: { url } }: UpstreamCall): string {
  return finalAnswer(JSON.stringify(url.includes("blocks") ? Array(500).fill(url) : url));
}

export const bodiesOf = (responses: readonly UpstreamResponse[]) => responses.map(({ body }) => String(body));

/** Upstream of several gateways, which records all calls. */
export class Upstream {
  readonly calls: UpstreamCall[] = [];
  /** Replaced by tests that delay or change responses. */
  respond = async (call: UpstreamCall): Promise<UpstreamResponse> => response(expectedBody(call));

  fetch = (call: UpstreamCall): Promise<UpstreamResponse> => {
    this.calls.push(call);
    return this.respond(call);
  };

  /** Holds responses back. Resolves after the first call, with a function that releases them. */
  hold(respond = this.respond): { called: Promise<void>; release: () => void } {
    const called = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.respond = async (call) => {
      called.resolve();
      await released.promise;
      return respond(call);
    };
    return { called: called.promise, release: released.resolve };
  }
}

type CacheState = "up" | "down";

/** The part of a gateway between its clients and its upstreams. */
export class CachingGateway {
  readonly logger = createRecordingLogger();
  readonly reader: CachingReader;
  readonly states: CacheState[] = [];
  readonly health = { all: [], headFloor: 0, finalityReverts: 0 };
  /** The gateway's clock. Only the test advances it, however long a busy machine takes. */
  now = SYSTEM_TIMERS.now();
  /** Multiplies the timeout of reads, which a busy machine may exceed, and the interval of purges. */
  timeoutFactor: number;
  readonly #events = new EventEmitter();

  constructor(
    url: string,
    upstream: Upstream,
    chainSpec = CHAIN_SPEC,
    { finalityReverts = 0, timeoutFactor = 50, quorum = 1, validation = false } = {},
  ) {
    this.health.finalityReverts = finalityReverts;
    this.timeoutFactor = timeoutFactor;
    this.reader = new CachingReader({
      fetch: upstream.fetch,
      revision: new Int32Array(2),
      chainSpec,
      settings: { memoryBytes: 2 ** 20, cache: { url, prefix: "test:", ttlSeconds: 60 }, quorum, validation },
      health: this.health,
      timers: { ...patientTimers(() => this.timeoutFactor), now: () => this.now },
      logger: this.logger,
      observer: {
        onCacheLookup: (where) => this.#events.emit(`lookup in ${where}`),
        onCacheState: (state) => {
          this.states.push(state);
          this.#events.emit("state");
        },
      },
    });
    onTestFinished(() => this.reader.close());
  }

  /** Opens a gateway that is connected to the cache. */
  static async open(...parts: ConstructorParameters<typeof CachingGateway>): Promise<CachingGateway> {
    const gateway = new CachingGateway(...parts);
    await gateway.until("up");
    return gateway;
  }

  /** Waits until the cache reported the state, or any, after the first `seen` reports. */
  async until(state?: CacheState, seen = 0): Promise<void> {
    while (!this.states.slice(seen).some((each) => state === undefined || each === state)) {
      await once(this.#events, "state");
    }
  }

  /** Waits for a lookup in the shared cache. */
  async onCacheLookup(): Promise<void> {
    await once(this.#events, "lookup in cache");
  }

  /** Returns the log messages above debug level, each with its reason. */
  messages(): string[] {
    return this.logger.records
      .filter(({ level }) => level !== "debug")
      .map(({ message, fields }) => `${message} ${fields?.reason ?? ""}`.trim());
  }
}

/** Polls until the cache holds that many responses and no claims. Gateways store responses after they return them. */
export async function untilStored(redis: RedisServer, responses: number): Promise<void> {
  for (;;) {
    const keys = await redis.keys();
    if (keys.length === responses && keys.every((key) => key.includes(":answer:"))) return;
  }
}
