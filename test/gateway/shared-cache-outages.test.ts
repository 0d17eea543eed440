import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { missingRedis } from "../support/gateway/redis-process.ts";
import { RedisServer } from "../support/gateway/redis-server.ts";
import { skipSuite } from "../support/suite/skip-suite.ts";
import { block, bodiesOf, CachingGateway, expectedBody, stateRoot, Upstream, untilStored } from "./caching-gateway.ts";

const UNAVAILABLE = "Shared cache unavailable, caching in memory only";
const AVAILABLE = "Shared cache available again";

describe("shared cache outages", () => {
  skipSuite(missingRedis());

  it("serves without a killed server and reconnects when it is back", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const gateway = await CachingGateway.open(redis.url, upstream);
    await gateway.reader.read(block(1));
    await untilStored(redis, 1);
    await redis.kill();
    await gateway.until("down");
    const slots = [2, 3, 4];
    expect(bodiesOf(await Promise.all(slots.map((slot) => gateway.reader.read(block(slot)))))).toEqual(
      slots.map((slot) => expectedBody(block(slot))),
    );
    await redis.start();
    await gateway.until("up", 1);
    await gateway.reader.read(block(5));
    await untilStored(redis, 1);
    expect(gateway.states).toEqual(["up", "down", "up"]);
    expect(gateway.messages()).toEqual([expect.stringContaining(UNAVAILABLE), AVAILABLE]);
  });

  it("reads from a server that is full or read-only, and stores again when it can", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const gateway = await CachingGateway.open(redis.url, upstream);
    await gateway.reader.read(block(1));
    await untilStored(redis, 1);
    let slot = 2;
    for (const [fail, recover, reason] of [
      [["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"], "OOM"],
      [["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"], "READONLY"],
    ] as const) {
      const seen = gateway.states.length;
      await redis.command(...fail);
      for (let read = 0; read < 3; read++) {
        slot++;
        expect(bodiesOf([await gateway.reader.read(block(slot))])).toEqual([expectedBody(block(slot))]);
      }
      await gateway.until("down", seen);
      const other = await CachingGateway.open(redis.url, upstream);
      const calls = upstream.calls.length;
      expect((await other.reader.read(block(1))).cachedIn).toBe("cache");
      expect(upstream.calls).toHaveLength(calls);
      await redis.command(...recover);
      gateway.now += 10_000;
      await gateway.reader.read(block(++slot));
      await gateway.until("up", seen);
      const [rejected, accepted] = gateway.messages().splice(-2);
      expect(rejected).toMatch(new RegExp(`^Shared cache rejects writes .*${reason}`));
      expect(accepted).toBe("Shared cache accepts writes again");
    }
    expect(gateway.messages()).toHaveLength(4);
  });

  it("logs once that the server rejects some commands, and once that it accepts them", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    await redis.command("ACL", "SETUSER", "default", "-eval");
    const gateway = await CachingGateway.open(redis.url, upstream);
    for (let slot = 1; slot <= 4; slot++) {
      await gateway.reader.read(block(slot));
      gateway.now += 10_000;
    }
    await gateway.reader.read(block(5));
    expect(gateway.messages()).toEqual([expect.stringContaining("rejects writes")]);
    await redis.command("ACL", "SETUSER", "default", "+eval");
    gateway.now += 10_000;
    await gateway.reader.read(block(6));
    expect(gateway.messages().slice(1)).toEqual(["Shared cache accepts writes again"]);

    await redis.command("ACL", "SETUSER", "default", "-mget");
    const other = new CachingGateway(redis.url, upstream);
    await other.until();
    expect([other.states, other.messages()]).toEqual([["down"], [expect.stringContaining(UNAVAILABLE)]]);
  });

  it("does not wait for a frozen server", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const gateway = await CachingGateway.open(redis.url, upstream);
    gateway.timeoutFactor = 1;
    redis.freeze();
    const reads = [1, 2, 3].map((slot) => gateway.reader.read(block(slot)));
    expect(bodiesOf(await Promise.all(reads))).toEqual([1, 2, 3].map((slot) => expectedBody(block(slot))));
    expect(gateway.states).toEqual(["up", "down"]);
    expect(bodiesOf([await gateway.reader.read(block(4))])).toEqual([expectedBody(block(4))]);
    gateway.timeoutFactor = 50;
    redis.thaw();
    await gateway.until("up", 1);
    expect(gateway.messages()).toEqual([`${UNAVAILABLE} It did not answer within 50 ms.`, AVAILABLE]);
  });

  it("logs why authentication failed, without the password", async () => {
    const redis = await RedisServer.start("--requirepass", "open:sesame");
    const upstream = new Upstream();
    for (const [credentials, reason] of [
      ["", "NOAUTH"],
      [":hunter2@", "WRONGPASS"],
    ]) {
      const gateway = new CachingGateway(`redis://${credentials}127.0.0.1:${redis.port}`, upstream);
      await gateway.until("down");
      expect(bodiesOf([await gateway.reader.read(block(1))])).toEqual([expectedBody(block(1))]);
      expect(gateway.messages()).toEqual([expect.stringContaining(reason!)]);
      expect(JSON.stringify(gateway.logger.records)).not.toContain("hunter2");
    }
    const gateway = await CachingGateway.open(`redis://:open%3Asesame@127.0.0.1:${redis.port}`, upstream);
    expect(JSON.stringify(gateway.logger.records)).not.toContain("sesame");
  });
});

it("serves without a cache where another server listens", async () => {
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
    const gateway = new CachingGateway(`redis://${credentials}127.0.0.1:${port}`, upstream);
    gateway.timeoutFactor = 1;
    await gateway.until();
    for (const call of [block(slot), stateRoot(slot)]) {
      expect(bodiesOf([await gateway.reader.read(call)])).toEqual([expectedBody(call)]);
    }
    await gateway.reader.close();
    expect(JSON.stringify(gateway.logger.records)).not.toContain(password);
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});
