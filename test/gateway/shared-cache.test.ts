import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SYSTEM_TIMERS } from "../../src/async/timers.ts";
import { CachingReader } from "../../src/gateway/cache/caching-reader.ts";
import { CHAIN_SPEC, finalAnswer, methodCall, response } from "../../src/gateway/cache/method-calls.test-support.ts";
import { withQuorumPrefix } from "../../src/gateway/cache/redis-cache.ts";
import type { UpstreamCall, UpstreamResponse } from "../../src/gateway/upstream-call.ts";
import { createRecordingLogger } from "../../src/log/recording-logger.test-support.ts";
import { flushPromises } from "../support/fake-timers.ts";
import { missingRedis } from "../support/redis-process.ts";
import { RedisServer } from "../support/redis-server.ts";
import { skipSuite } from "../support/skip-suite.ts";

const stateRoot = (slot: number) => methodCall("get_v1_beacon_states_root", { state_id: String(slot) });
const block = (slot: number) => methodCall("get_v2_beacon_blocks_blockId", { block_id: String(slot) });

/** Of the keys of all answers of the chain. */
const PREFIX = `test:1:${CHAIN_SPEC.genesisValidatorsRoot}:${CHAIN_SPEC.genesisTime}:`;

/** What the chain answers, long enough for some questions to be compressed. */
function truth({ request: { url } }: UpstreamCall): string {
  return finalAnswer(JSON.stringify(url.includes("blocks") ? Array(500).fill(url) : url));
}

/** Everything that upstreams were asked, by any gateway. */
class Upstream {
  readonly asked: UpstreamCall[] = [];
  /** Replaced by tests in which the upstream takes its time. */
  answer = async (methodCall: UpstreamCall): Promise<UpstreamResponse> => response(truth(methodCall));

  fetch = (methodCall: UpstreamCall): Promise<UpstreamResponse> => {
    this.asked.push(methodCall);
    return this.answer(methodCall);
  };
}

type CacheState = "up" | "down";

/** What a gateway has between its clients and its upstreams. */
class Gateway {
  readonly logger = createRecordingLogger();
  readonly reader: CachingReader;
  readonly states: CacheState[] = [];
  readonly health = { all: [], headFloor: 0, finalityReverts: 0 };
  /** By how much the time of the gateway is ahead. */
  lead = 0;
  /** How many times longer than it would the gateway waits for the engine, which a busy machine may leave little time. */
  patience: number;
  readonly #happenings = new EventEmitter();

  constructor(
    url: string,
    upstream: Upstream,
    chainSpec = CHAIN_SPEC,
    { finalityReverts = 0, patience = 50, quorum = 1 } = {},
  ) {
    this.health.finalityReverts = finalityReverts;
    this.patience = patience;
    this.reader = new CachingReader({
      fetch: upstream.fetch,
      revision: new Int32Array(2),
      chainSpec,
      memoryBytes: 2 ** 20,
      cache: withQuorumPrefix({ url, prefix: "test:", ttlSeconds: 60 }, quorum),
      health: this.health,
      timers: {
        ...SYSTEM_TIMERS,
        now: () => SYSTEM_TIMERS.now() + this.lead,
        every: (ms, run) => SYSTEM_TIMERS.every(ms * this.patience, run),
      },
      logger: this.logger,
      observer: {
        onCacheLookup: (where) => this.#happenings.emit(`looked into ${where}`),
        onCacheState: (state) => {
          this.states.push(state);
          this.#happenings.emit("state");
        },
      },
    });
    onTestFinished(() => this.reader.close());
  }

  static async open(...parts: ConstructorParameters<typeof Gateway>): Promise<Gateway> {
    const gateway = new Gateway(...parts);
    await gateway.until("up");
    return gateway;
  }

  /** Waits until the cache was said to be in the state, or in any, after all that was said before. */
  async until(state?: CacheState, seen = 0): Promise<void> {
    while (!this.states.slice(seen).some((each) => state === undefined || each === state)) {
      await once(this.#happenings, "state");
    }
  }

  /** When a read has looked into the cache, before it waits for what somebody else asks. */
  async onCacheLookup(): Promise<void> {
    await once(this.#happenings, "looked into cache");
  }

  /** The messages of the log, with what they say of the reason. */
  said(): string[] {
    return this.logger.records
      .filter(({ level }) => level !== "debug")
      .map(({ message, fields }) => `${message} ${fields?.reason ?? ""}`.trim());
  }
}

const ABSENT = "Shared cache unavailable, caching in memory only";
const BACK = "Shared cache available again";

/** Polls the engine, where nothing else tells that a gateway has stored an answer, which it does after it has given it. */
async function untilStored(redis: RedisServer, answers: number): Promise<void> {
  for (;;) {
    const keys = await redis.keys();
    if (keys.length === answers && keys.every((key) => key.includes(":answer:"))) return;
  }
}

const textsOf = (answers: readonly UpstreamResponse[]) => answers.map(({ body }) => String(body));

describe("a shared cache", () => {
  skipSuite(missingRedis());

  it("has an upstream asked once for a thousand reads of something final over two gateways", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const asked = Promise.withResolvers<void>();
    const mayAnswer = Promise.withResolvers<void>();
    upstream.answer = async (methodCall) => {
      asked.resolve();
      await mayAnswer.promise;
      return response(truth(methodCall));
    };
    const gateways = [await Gateway.open(redis.url, upstream), await Gateway.open(redis.url, upstream)];
    const reader = Array.from({ length: 1000 }, (_, index) => gateways[index % 2]!.reader.read(block(7)));
    await asked.promise;
    mayAnswer.resolve();
    const answers = await Promise.all(reader);
    expect(new Set(textsOf(answers))).toEqual(new Set([truth(block(7))]));
    expect(upstream.asked).toHaveLength(1);
    expect(new Set(answers.map(({ cachedIn }) => cachedIn))).toEqual(new Set([undefined, "cache"]));

    await untilStored(redis, 1);
    const later = await Gateway.open(redis.url, upstream);
    const first = await later.reader.read(block(7));
    const second = await later.reader.read(block(7));
    expect([first.cachedIn, second.cachedIn]).toEqual(["cache", "memory"]);
    expect(textsOf([first, second])).toEqual([truth(block(7)), truth(block(7))]);
    expect(first.headers).toEqual({ "content-type": "application/json" });
    expect(upstream.asked).toHaveLength(1);
    const [key] = await redis.keys();
    expect(key).toBe(`${PREFIX}answer:GET json /eth/v2/beacon/blocks/7`);
    expect(await redis.command("TTL", key!)).toBeGreaterThan(50);

    const ofAnotherChain = await Gateway.open(redis.url, upstream, {
      ...CHAIN_SPEC,
      genesisTime: CHAIN_SPEC.genesisTime + 1,
    });
    expect((await ofAnotherChain.reader.read(block(7))).cachedIn).toBeUndefined();
  });

  it("has no answers for a gateway whose upstreams have to agree from one where fewer have to", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const read = async (quorum: number) => {
      const { reader } = await Gateway.open(redis.url, upstream, CHAIN_SPEC, { quorum });
      return (await reader.read(stateRoot(7))).cachedIn;
    };
    for (const [index, quorum] of [1, 2, 3].entries()) {
      expect(await read(quorum)).toBeUndefined();
      await untilStored(redis, index + 1);
      expect(await read(quorum)).toBe("cache");
    }
  });

  it("lets a gateway ask itself when the one that it waits for brings nothing that can be stored, or is gone", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const asked = Promise.withResolvers<void>();
    const mayAnswer = Promise.withResolvers<void>();
    upstream.answer = async () => {
      asked.resolve();
      await mayAnswer.promise;
      return response('{"data":{},"finalized":false}');
    };
    const gateways = [await Gateway.open(redis.url, upstream), await Gateway.open(redis.url, upstream)];
    const reader = gateways.map(({ reader }) => reader.read(stateRoot(7)));
    await asked.promise;
    expect(await redis.keys()).toHaveLength(1);
    expect(upstream.asked).toHaveLength(1);
    mayAnswer.resolve();
    expect(new Set(textsOf(await Promise.all(reader)))).toEqual(new Set(['{"data":{},"finalized":false}']));
    expect(upstream.asked).toHaveLength(2);

    upstream.answer = async (methodCall) => response(truth(methodCall));
    const claim = `${PREFIX}claim:GET json /eth/v1/beacon/states/8/root`;
    await redis.command("SET", claim, "claim:0123456789abcdef", "PX", "50");
    expect(textsOf([await gateways[0]!.reader.read(stateRoot(8))])).toEqual([truth(stateRoot(8))]);
    // One that stays there for ever is not waited for as long.
    await redis.command("SET", claim.replace("8", "9"), "claim:0123456789abcdef");
    const read = gateways[1]!.reader.read(stateRoot(9));
    await gateways[1]!.onCacheLookup();
    gateways[1]!.lead = 2000;
    expect(textsOf([await read])).toEqual([truth(stateRoot(9))]);
  });

  it("is rid of what was final before the chain went back behind it, and of nothing else", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const gateways = [await Gateway.open(redis.url, upstream), await Gateway.open(redis.url, upstream)] as const;
    const others = { ...CHAIN_SPEC, genesisTime: CHAIN_SPEC.genesisTime + 1 };
    const ofAnotherChain = await Gateway.open(redis.url, upstream, others);
    await ofAnotherChain.reader.read(block(1));
    for (let slot = 1; slot <= 3; slot++) await gateways[0].reader.read(block(slot));
    await untilStored(redis, 4);

    const now = (methodCall: UpstreamCall) => finalAnswer(`"another branch: ${methodCall.request.url}"`);
    upstream.answer = async (methodCall) => response(now(methodCall));
    gateways[0].health.finalityReverts++;
    expect(textsOf([await gateways[0].reader.read(block(1))])).toEqual([now(block(1))]);
    await untilStored(redis, 1);
    expect(await redis.keys()).toEqual([expect.stringContaining(String(others.genesisTime))]);
    expect(textsOf([await gateways[1].reader.read(block(1))])).toEqual([now(block(1))]);
    await untilStored(redis, 2);
    expect((await ofAnotherChain.reader.read(block(1))).cachedIn).toBe("memory");
  });

  it("is rid of it though nobody asks, when the gateway ends, and when another process takes its place", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const store = async () => {
      await (await Gateway.open(redis.url, upstream)).reader.read(block(1));
      await untilStored(redis, 1);
    };
    const unasked = await Gateway.open(redis.url, upstream, CHAIN_SPEC, { patience: 1 });
    unasked.patience = 50;
    await store();
    unasked.health.finalityReverts++;
    await untilStored(redis, 0);
    const ending = await Gateway.open(redis.url, upstream);
    await store();
    ending.health.finalityReverts++;
    await ending.reader.close();
    expect(await redis.keys()).toEqual([]);
    await store();
    const replacing = await Gateway.open(redis.url, upstream, CHAIN_SPEC, { finalityReverts: 1 });
    expect((await replacing.reader.read(block(1))).cachedIn).toBeUndefined();
    await untilStored(redis, 0);
  });

  it("takes no answer of which the chain has gone back while it was looked up", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    await (await Gateway.open(redis.url, upstream)).reader.read(block(1));
    await untilStored(redis, 1);
    const gateway = await Gateway.open(redis.url, upstream);
    redis.freeze();
    const read = gateway.reader.read(block(1));
    await flushPromises();
    gateway.health.finalityReverts++;
    redis.thaw();
    expect((await read).cachedIn).toBeUndefined();
  });

  it("takes no garbage for an answer, whatever is in the engine", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const questions = [stateRoot(1), stateRoot(2), block(1), block(2)];
    const readAll = async () => {
      const { reader } = await Gateway.open(redis.url, upstream);
      const before = upstream.asked.length;
      expect(textsOf(await Promise.all(questions.map((each) => reader.read(each))))).toEqual(questions.map(truth));
      return upstream.asked.length - before;
    };
    expect(await readAll()).toBe(4);
    await untilStored(redis, 4);
    expect(await readAll()).toBe(0);
    const keys = await redis.keys();
    const values = (await redis.command("MGET", ...keys)) as Buffer[];
    const areMended = async () => {
      const found = (await redis.command("MGET", ...keys)) as (Buffer | null)[];
      return found.every((value, position) => value?.equals(values[position]!));
    };
    const spoilings: ((value: Buffer, position: number) => Buffer)[] = [
      () => Buffer.alloc(0),
      () => Buffer.from("garbage"),
      () => Buffer.from(`\u0001${"garbage".repeat(100)}`),
      (value) => value.subarray(0, -1),
      (value) => value.subarray(0, 30),
      (value) => Buffer.concat([value, Buffer.from("}")]),
      (value) => Buffer.concat([value.subarray(0, 40), Buffer.from("x"), value.subarray(41)]),
      (_, position) => values[(position + 1) % values.length]!,
    ];
    for (const spoil of spoilings) {
      for (const [position, key] of keys.entries()) {
        await redis.command("SET", key, spoil(values[position]!, position));
        await redis.command("SET", key.replace(":answer:", ":claim:"), "garbage");
      }
      expect(await readAll()).toBe(4);
      while (!(await areMended()));
    }
    for (const key of keys) {
      await redis.command("DEL", key);
      await redis.command("RPUSH", key, "a list");
    }
    expect(await readAll()).toBe(4);
    while (!(await areMended()));
    expect(await readAll()).toBe(0);
  });

  it("works on without an engine that is killed, and with it again when it is back", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const gateway = await Gateway.open(redis.url, upstream);
    await gateway.reader.read(block(1));
    await untilStored(redis, 1);
    await redis.kill();
    await gateway.until("down");
    const slots = [2, 3, 4];
    expect(textsOf(await Promise.all(slots.map((slot) => gateway.reader.read(block(slot)))))).toEqual(
      slots.map((slot) => truth(block(slot))),
    );
    await redis.start();
    await gateway.until("up", 1);
    await gateway.reader.read(block(5));
    await untilStored(redis, 1);
    expect(gateway.states).toEqual(["up", "down", "up"]);
    expect(gateway.said()).toEqual([expect.stringContaining(ABSENT), BACK]);
  });

  it("goes on reading from an engine that is full or may not be written to, and stores again when it can", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const gateway = await Gateway.open(redis.url, upstream);
    await gateway.reader.read(block(1));
    await untilStored(redis, 1);
    let slot = 2;
    for (const [spoil, mend, reason] of [
      [["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"], "OOM"],
      [["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"], "READONLY"],
    ] as const) {
      const seen = gateway.states.length;
      await redis.command(...spoil);
      for (let reader = 0; reader < 3; reader++) {
        slot++;
        expect(textsOf([await gateway.reader.read(block(slot))])).toEqual([truth(block(slot))]);
      }
      await gateway.until("down", seen);
      const other = await Gateway.open(redis.url, upstream);
      const asked = upstream.asked.length;
      expect((await other.reader.read(block(1))).cachedIn).toBe("cache");
      expect(upstream.asked).toHaveLength(asked);
      await redis.command(...mend);
      gateway.lead += 10_000;
      await gateway.reader.read(block(++slot));
      await gateway.until("up", seen);
      const [refused, stores] = gateway.said().splice(-2);
      expect(refused).toMatch(new RegExp(`^Shared cache rejects writes .*${reason}`));
      expect(stores).toBe("Shared cache accepts writes again");
    }
    expect(gateway.said()).toHaveLength(4);
  });

  it("says once that an engine takes some commands and refuses others, and when it takes those", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    await redis.command("ACL", "SETUSER", "default", "-eval");
    const gateway = await Gateway.open(redis.url, upstream);
    for (let slot = 1; slot <= 4; slot++) {
      await gateway.reader.read(block(slot));
      gateway.lead += 10_000;
    }
    await gateway.reader.read(block(5));
    expect(gateway.said()).toEqual([expect.stringContaining("rejects writes")]);
    await redis.command("ACL", "SETUSER", "default", "+eval");
    gateway.lead += 10_000;
    await gateway.reader.read(block(6));
    expect(gateway.said().slice(1)).toEqual(["Shared cache accepts writes again"]);

    await redis.command("ACL", "SETUSER", "default", "-mget");
    const other = new Gateway(redis.url, upstream);
    await other.until();
    expect([other.states, other.said()]).toEqual([["down"], [expect.stringContaining(ABSENT)]]);
  });

  it("does not wait for an engine that is frozen", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const gateway = await Gateway.open(redis.url, upstream);
    gateway.patience = 1;
    redis.freeze();
    const reader = [1, 2, 3].map((slot) => gateway.reader.read(block(slot)));
    expect(textsOf(await Promise.all(reader))).toEqual([1, 2, 3].map((slot) => truth(block(slot))));
    expect(gateway.states).toEqual(["up", "down"]);
    expect(textsOf([await gateway.reader.read(block(4))])).toEqual([truth(block(4))]);
    gateway.patience = 50;
    redis.thaw();
    await gateway.until("up", 1);
    expect(gateway.said()).toEqual([`${ABSENT} It did not answer within 50 ms.`, BACK]);
  });

  it("says why it is not let in, without the password, and takes the right one", async () => {
    const redis = await RedisServer.start("--requirepass", "open:sesame");
    const upstream = new Upstream();
    for (const [credentials, reason] of [
      ["", "NOAUTH"],
      [":hunter2@", "WRONGPASS"],
    ]) {
      const gateway = new Gateway(`redis://${credentials}127.0.0.1:${redis.port}`, upstream);
      await gateway.until("down");
      expect(textsOf([await gateway.reader.read(block(1))])).toEqual([truth(block(1))]);
      expect(gateway.said()).toEqual([expect.stringContaining(reason!)]);
      expect(JSON.stringify(gateway.logger.records)).not.toContain("hunter2");
    }
    const gateway = await Gateway.open(`redis://:open%3Asesame@127.0.0.1:${redis.port}`, upstream);
    expect(JSON.stringify(gateway.logger.records)).not.toContain("sesame");
  });
});

it("works without a cache where something else listens", async () => {
  const upstream = new Upstream();
  const password = "hunter2";
  const behaviours: ((socket: Socket) => void)[] = [
    (socket) => socket.on("data", () => socket.write(`-ERR unknown command, with args: '${password}'\r\n`)),
    (socket) => socket.on("data", () => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n")),
    (socket) => socket.on("data", (bytes) => socket.write(bytes)),
    (socket) => socket.on("data", () => socket.write(":1\r\n:2\r\n:3\r\n")),
    (socket) => socket.on("data", () => socket.write("$-1\r\n")),
    (socket) => socket.destroy(),
    () => {},
  ];
  for (const [slot, behave] of behaviours.entries()) {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      behave(socket);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const credentials = slot === 0 ? `:${password}@` : "";
    const gateway = new Gateway(`redis://${credentials}127.0.0.1:${port}`, upstream);
    gateway.patience = 1;
    await gateway.until();
    for (const asked of [block(slot), stateRoot(slot)]) {
      expect(textsOf([await gateway.reader.read(asked)])).toEqual([truth(asked)]);
    }
    await gateway.reader.close();
    expect(JSON.stringify(gateway.logger.records)).not.toContain(password);
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});
