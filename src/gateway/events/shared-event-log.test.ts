import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  attestationEvent,
  block,
  CHAIN_SPEC,
  exitEvent,
  fetchFrom,
  GENESIS,
  reorgEvent,
  type ScriptedBlock,
  StreamingUpstream,
} from "../../../test/support/gateway/events/streaming-upstream.ts";
import { missingRedis } from "../../../test/support/gateway/redis-process.ts";
import { RedisServer } from "../../../test/support/gateway/redis-server.ts";
import { ScriptedHealth } from "../../../test/support/gateway/upstream/scripted-health.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { Arrivals } from "../../../test/support/server/events/arrivals.ts";
import { skipSuite } from "../../../test/support/suite/skip-suite.ts";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import { EventHub } from "./event-hub.ts";

const TOPICS = ["head", "block", "chain_reorg", "finalized_checkpoint", "voluntary_exit", "single_attestation"];
const KEYS = `test:${GENESIS.root}:${CHAIN_SPEC.genesisTime}:events:`;

/** Shortens events, so that whole sequences can be compared. */
function describeEvent(topic: string, data: Buffer): string {
  const value = JSON.parse(data.toString());
  return `${topic} ${value.slot ?? value.message?.validator_index ?? value.attester_index ?? value.epoch}`;
}

const imported = (...blocks: ScriptedBlock[]) => blocks.flatMap(({ slot }) => [`block ${slot}`, `head ${slot}`]);

function chain(length: number): ScriptedBlock[] {
  const blocks = [GENESIS];
  while (blocks.length <= length) blocks.push(block(blocks.length, blocks.at(-1)));
  return blocks.slice(1);
}

class TestGateway {
  readonly announced = new Arrivals<string>();
  readonly logger = createRecordingLogger();
  readonly health: ScriptedHealth;
  readonly hub: EventHub;

  constructor(upstreams: readonly StreamingUpstream[], redis: RedisServer) {
    const health = new ScriptedHealth(...upstreams.map(({ name }) => name));
    for (const { name } of upstreams) health.set(name, { head: undefined });
    this.health = health;
    this.hub = new EventHub({
      upstreams: upstreams.map((upstream, tier) => upstream.options({ tier })),
      health,
      observer: {
        recordHead: (upstream, head) => health.change(upstream, { head }),
        recordFinalized: () => {},
        recordReorg: () => {},
      },
      chainSpec: CHAIN_SPEC,
      timers: SYSTEM_TIMERS,
      logger: this.logger,
      fetch: fetchFrom(upstreams),
      cache: { url: redis.url, prefix: "test:", ttlSeconds: 60 },
      leaseMillis: 3000,
    });
    this.hub.feed(TOPICS).open({
      deliver: ({ topic, data }) => this.announced.push(describeEvent(topic, data)),
      disconnect: () => this.announced.end("It was cut off."),
    });
    onTestFinished(() => this.hub.close());
  }

  get warnings(): string[] {
    return this.logger.records
      .filter(({ level, message }) => level === "warn" && /shared event log/i.test(message))
      .map(({ message }) => message);
  }
}

/** Resolves when this many gateways wait for entries, and one holds the lease. */
async function joined(redis: RedisServer, count: number): Promise<void> {
  await vi.waitFor(async () => {
    expect(String(await redis.command("CLIENT", "LIST")).match(/cmd=xread/g)).toHaveLength(count);
    expect(await redis.command("EXISTS", `${KEYS}lease`)).toBe(1);
  }, 20_000);
}

describe("gateways that share a Redis", { timeout: 60_000 }, () => {
  skipSuite(missingRedis());

  async function open(count: number) {
    const redis = await RedisServer.start();
    const a = await StreamingUpstream.start("a", GENESIS);
    const b = await StreamingUpstream.start("b", GENESIS);
    const gateways = Array.from({ length: count }, () => new TestGateway([a, b], redis));
    await Promise.all([a.connected(count), b.connected(count)]);
    await joined(redis, count);
    return { redis, a, b, gateways };
  }

  it("publish always-on topics in the same order, and on-demand topics independently", async () => {
    const { redis, a, b, gateways } = await open(3);
    for (const imports of chain(3)) {
      b.publish("voluntary_exit", exitEvent(imports.slot));
      b.imports(imports);
      a.imports(imports);
      a.publish("voluntary_exit", exitEvent(imports.slot));
      const [story, ...others] = await Promise.all(gateways.map(({ announced }) => announced.take(3)));
      expect(story!.toSorted()).toEqual([...imported(imports), `voluntary_exit ${imports.slot}`]);
      for (const other of others) expect(other).toEqual(story);
    }
    b.publish("single_attestation", attestationEvent(1, 5));
    await tells(gateways, "single_attestation 5");
    const written = String(await redis.command("XRANGE", `${KEYS}stream`, "-", "+"));
    expect(written.match(/voluntary_exit/g)).toHaveLength(3);
    expect(written).not.toContain("single_attestation");
  });

  it("publish rewinds and new finality", async () => {
    const { a, gateways } = await open(2);
    const blocks = chain(20);
    const finalized = (epoch: number) => ({ block: GENESIS.root, state: GENESIS.root, epoch: String(epoch) });
    for (const each of blocks) a.imports(each);
    a.publish("finalized_checkpoint", finalized(2));
    await tells(gateways, ...imported(...blocks), "finalized_checkpoint 2");
    a.publish("chain_reorg", reorgEvent(blocks[19]!, blocks[9]!, blocks[9]!));
    a.tellHead(blocks[9]!);
    const other = block(21, blocks[9], 1);
    a.imports(other);
    a.publish("finalized_checkpoint", finalized(1));
    await tells(gateways, "chain_reorg 10", "head 10", ...imported(other), "finalized_checkpoint 1");
  });

  it("continue when the writer stops, and fill the gap", async () => {
    const { redis, a, b, gateways } = await open(1);
    const [writer] = gateways as [TestGateway];
    const reader = new TestGateway([a, b], redis);
    await joined(redis, 2);
    const blocks = chain(4);
    const importAll = (imports: ScriptedBlock) => {
      for (const upstream of [a, b]) upstream.imports(imports);
    };
    importAll(blocks[0]!);
    await tells([writer, reader], ...imported(blocks[0]!));
    await writer.hub.close();
    importAll(blocks[1]!);
    await tells([reader], ...imported(blocks[1]!));
    // Another holder of the lease, which writes nothing.
    await redis.command("SET", `${KEYS}lease`, "another", "PX", "1500");
    importAll(blocks[2]!);
    importAll(blocks[3]!);
    await tells([reader], ...imported(...blocks.slice(2)));
    expect(reader.warnings).toEqual([]);
  });

  it("prefer a writer with a ready upstream", async () => {
    const redis = await RedisServer.start();
    const a = await StreamingUpstream.start("a", GENESIS);
    const b = await StreamingUpstream.start("b", GENESIS);
    const ofB = new TestGateway([b], redis);
    await joined(redis, 1);
    const ofA = new TestGateway([a], redis);
    await joined(redis, 2);
    const gateways = [ofA, ofB];
    const [first, second, third] = chain(3) as [ScriptedBlock, ScriptedBlock, ScriptedBlock];
    for (const upstream of [a, b]) upstream.imports(first);
    await tells(gateways, ...imported(first));
    ofB.health.change("b", { state: "behind" });
    a.imports(second);
    await tells(gateways, ...imported(second));
    ofA.health.change("a", { state: "behind" });
    a.imports(third);
    await tells(gateways, ...imported(third));
    await ofA.hub.close();
    for (const imports of chain(4).slice(1)) b.imports(imports);
    await tells([ofB], ...imported(chain(4)[3]!));
  });

  it("publish own events while Redis is unavailable, log it once, and rejoin", async () => {
    const { redis, a, b, gateways } = await open(2);
    const blocks = chain(6);
    const importAll = (imports: ScriptedBlock) => {
      for (const upstream of [a, b]) upstream.imports(imports);
    };
    importAll(blocks[0]!);
    await tells(gateways, ...imported(blocks[0]!));
    await redis.kill();
    for (const imports of blocks.slice(1, 4)) {
      importAll(imports);
      await tells(gateways, ...imported(imports));
    }
    for (const { warnings } of gateways)
      expect(warnings).toEqual([expect.stringContaining("Shared event log unavailable")]);
    await redis.start();
    await joined(redis, 2);
    for (const imports of blocks.slice(4)) {
      importAll(imports);
      await tells(gateways, ...imported(imports));
    }
    await vi.waitFor(async () => expect(await redis.command("XLEN", `${KEYS}stream`)).toBeGreaterThan(0));
    redis.freeze();
    a.publish("voluntary_exit", exitEvent(1));
    await tells(gateways, "voluntary_exit 1");
    redis.thaw();
  });

  it("skip invalid entries, and work without a writable Redis", async () => {
    const { redis, a, b, gateways } = await open(1);
    await redis.command("XADD", `${KEYS}stream`, "*", "topic", "head", "data", "{");
    await redis.command("XADD", `${KEYS}stream`, "*", "topic", "head", "data", "[]");
    await redis.command("XADD", `${KEYS}stream`, "*", "something", "else");
    await redis.command("XADD", `${KEYS}stream`, "*", "topic", "weather", "data", "{}");
    const future = JSON.stringify({ block: GENESIS.root, state: GENESIS.root, epoch: "9999999999" });
    await redis.command("XADD", `${KEYS}stream`, "*", "topic", "finalized_checkpoint", "data", future);
    const [first, second] = chain(2) as [ScriptedBlock, ScriptedBlock];
    for (const upstream of [a, b]) upstream.imports(first);
    a.publish("finalized_checkpoint", { block: GENESIS.root, state: GENESIS.root, epoch: "1" });
    await tells(gateways, ...imported(first), "finalized_checkpoint 1");
    expect(gateways[0]!.warnings).toEqual([expect.stringContaining("Invalid entry")]);
    await redis.command("DEL", `${KEYS}stream`);
    await redis.command("SET", `${KEYS}stream`, "garbage");
    for (const upstream of [a, b]) upstream.imports(second);
    await tells(gateways, ...imported(second));
    expect(gateways[0]!.warnings.at(-1)).toContain("Shared event log unavailable");
  });
});

/** Expects the same events on all gateways and no others before. Blocks may precede earlier heads. */
async function tells(gateways: readonly TestGateway[], ...events: string[]): Promise<void> {
  for (const { announced } of gateways)
    expect((await announced.take(events.length)).toSorted()).toEqual(events.toSorted());
}
