import type { Timers } from "../../async/timers.ts";
import { withTimeout } from "../../async/with-timeout.ts";
import { OperationalError } from "../../errors/operational-error.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import { createClient, type Redis } from "../cache/redis-connection.ts";

type Client = ReturnType<typeof createClient>;

/** About half an hour of events, for gateways that join or reconnect. */
const MAX_ENTRIES = 1024;
const MAX_READ = 256;
const CONNECT_MILLIS = 2000;
/** An unused stream expires after a day. */
const STREAM_SECONDS = 86_400;

/** Prefix of the lease token of a gateway that yields to any ready one. */
const YIELDING = "yielding:";
/** Writes only as lease holder, so that a gateway that was suspended writes nothing. */
const WRITE = `
local holder = redis.call("GET", KEYS[1])
if holder ~= ARGV[1] and holder ~= "${YIELDING}" .. ARGV[1] then return false end
local id = redis.call("XADD", KEYS[2], "MAXLEN", "~", ARGV[2], "*", "by", ARGV[1], "topic", ARGV[3], "data", ARGV[4])
redis.call("EXPIRE", KEYS[2], ARGV[5])
return id`;
/**
 * A gateway that is not ready passes a third argument. Declares the stream key too, so that Redis rejects the lease if
 * it would reject writes.
 */
const ACQUIRE_OR_RENEW = `
local holder = redis.call("GET", KEYS[1])
local yielding = "${YIELDING}" .. ARGV[1]
local isOwn = not holder or holder == ARGV[1] or holder == yielding
local isFree = not ARGV[3] and holder and string.find(holder, "${YIELDING}", 1, true) == 1
if not isOwn and not isFree then return 0 end
redis.call("SET", KEYS[1], ARGV[3] and yielding or ARGV[1], "PX", ARGV[2])
return 1`;
const RELEASE = `
local holder = redis.call("GET", KEYS[1])
if holder == ARGV[1] or holder == "${YIELDING}" .. ARGV[1] then redis.call("DEL", KEYS[1]) end
return 1`;

/** An entry of the stream. Without `event` if it was not written by a gateway. */
export interface StreamEntry {
  readonly id: string;
  /** Token of the writer. */
  readonly by?: string;
  readonly event?: StreamEvent;
}

interface RedisEventStreamOptions {
  readonly url: string;
  /** Key prefix. */
  readonly prefix: string;
  /** Identifies this gateway. */
  readonly token: string;
  /** Lifetime of the lease without renewal. */
  readonly leaseMillis: number;
  readonly timers: Timers;
}

/**
 * Event stream in Redis or Valkey, written by the lease holder and read by all gateways. After a rejection the instance
 * is unusable.
 */
export class RedisEventStream {
  readonly #options: RedisEventStreamOptions;
  /** A blocking read occupies its connection. */
  readonly #reader: Client;
  readonly #writer: Client;
  readonly #lease: string;
  readonly #stream: string;

  static async connect(options: RedisEventStreamOptions): Promise<RedisEventStream> {
    const stream = new RedisEventStream(await import("@redis/client"), options);
    try {
      await withTimeout(
        Promise.all([stream.#reader.connect(), stream.#writer.connect()]),
        CONNECT_MILLIS,
        options.timers,
        () => replyTimeout(CONNECT_MILLIS),
      );
      return stream;
    } catch (error) {
      stream.close();
      throw error;
    }
  }

  private constructor(redis: Redis, options: RedisEventStreamOptions) {
    this.#options = options;
    this.#reader = openClient(redis, options.url);
    this.#writer = openClient(redis, options.url);
    this.#lease = `${options.prefix}events:lease`;
    this.#stream = `${options.prefix}events:stream`;
  }

  /** Acquires or renews the lease. A gateway that is not ready yields it to a ready one. */
  async acquireOrRenewLease({ isReady }: { isReady: boolean }): Promise<boolean> {
    const { token, leaseMillis } = this.#options;
    const args = [token, String(leaseMillis), ...(isReady ? [] : ["yielding"])];
    return (await this.#command("EVAL", ACQUIRE_OR_RENEW, "2", this.#lease, this.#stream, ...args)) === 1;
  }

  async releaseLease(): Promise<void> {
    await this.#command("EVAL", RELEASE, "1", this.#lease, this.#options.token);
  }

  /** Appends an event, in call order. Returns false without the lease. */
  async write({ topic, data }: StreamEvent): Promise<boolean> {
    const { token } = this.#options;
    const args = [token, String(MAX_ENTRIES), topic, data, String(STREAM_SECONDS)];
    return (await this.#command("EVAL", WRITE, "2", this.#lease, this.#stream, ...args)) !== null;
  }

  /** Reads the entries after an id. Waits for the first one. */
  async read(after: string, waitMillis: number): Promise<StreamEntry[]> {
    const wait = waitMillis > 0 ? ["BLOCK", String(Math.ceil(waitMillis))] : [];
    const command = ["XREAD", "COUNT", String(MAX_READ), ...wait, "STREAMS", this.#stream, after];
    const reply: unknown = await this.#withTimeout(this.#reader.sendCommand(command), waitMillis);
    const [[, entries]] = (reply ?? [[undefined, []]]) as [[unknown, RawEntry[]]];
    return entries.map(readEntry);
  }

  /** Returns the newest entries, oldest first. */
  async readNewest(): Promise<StreamEntry[]> {
    const reply = await this.#command("XREVRANGE", this.#stream, "+", "-", "COUNT", String(MAX_READ));
    return (reply as RawEntry[]).map(readEntry).reverse();
  }

  /** Aborts a blocking read. */
  stopReading(): void {
    if (this.#reader.isOpen) this.#reader.destroy();
  }

  close(): void {
    this.stopReading();
    if (this.#writer.isOpen) this.#writer.destroy();
  }

  #command(...command: (string | Buffer)[]): Promise<unknown> {
    return this.#withTimeout(this.#writer.sendCommand(command), 0);
  }

  /** Rejects after half the lease, so that another gateway can take over in time. */
  #withTimeout<T>(reply: Promise<T>, waitMillis: number): Promise<T> {
    const millis = waitMillis + this.#options.leaseMillis / 2;
    return withTimeout(reply, millis, this.#options.timers, () => replyTimeout(millis));
  }
}

type RawEntry = [id: Buffer, fields: Buffer[]];

function readEntry([id, fields]: RawEntry): StreamEntry {
  const field = (name: string) => {
    const index = fields.findIndex((text, position) => position % 2 === 0 && text.toString() === name);
    return index === -1 ? undefined : fields[index + 1];
  };
  const topic = field("topic");
  const data = field("data");
  return {
    id: id.toString(),
    by: field("by")?.toString(),
    event: topic && data && { topic: topic.toString(), data },
  };
}

function replyTimeout(millis: number): OperationalError {
  return new OperationalError(`It did not answer within ${millis} ms.`);
}

function openClient(redis: Redis, url: string) {
  const client = createClient(redis, url);
  // Commands reject with the error.
  client.on("error", () => {});
  return client;
}
