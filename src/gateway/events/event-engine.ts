import type { Timers } from "../../async/timers.ts";
import { OperationalError } from "../../errors/operational-error.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import { createClient, type Redis } from "../cache/redis-link.ts";

type Client = ReturnType<typeof createClient>;

/** What is kept for those who join or were away: some half an hour of events. */
const MAX_ENTRIES = 1024;
const MAX_READ = 256;
const CONNECT_MILLIS = 2000;
/** A stream that nobody writes any more is forgotten after a day. */
const STREAM_SECONDS = 86_400;

/** Before the token of a gateway that leaves the lease to any other that is ready. */
const YIELDING = "yielding:";
/** Whoever has lost the lease writes nothing, however late it notices. */
const WRITE = `
local holder = redis.call("GET", KEYS[1])
if holder ~= ARGV[1] and holder ~= "${YIELDING}" .. ARGV[1] then return false end
local id = redis.call("XADD", KEYS[2], "MAXLEN", "~", ARGV[2], "*", "by", ARGV[1], "topic", ARGV[3], "data", ARGV[4])
redis.call("EXPIRE", KEYS[2], ARGV[5])
return id`;
/** One that is not ready comes with a third argument. The stream is named, too, so that an engine refuses this which would refuse to write. */
const TAKE_OR_RENEW = `
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

/** An event in the stream; one that is not there as gateways write it has only its id. */
export interface StreamEntry {
  readonly id: string;
  /** The token of who wrote it. */
  readonly by?: string;
  readonly event?: StreamEvent;
}

interface EventEngineOptions {
  readonly url: string;
  /** Of the keys. */
  readonly prefix: string;
  /** By which this gateway is known to the others. */
  readonly token: string;
  /** How long a gateway writes the events if it does not say that it is still there. */
  readonly leaseMillis: number;
  readonly timers: Timers;
}

/**
 * A stream of events in Redis or Valkey that several gateways read and one of them writes, whoever has the lease. All of it rejects
 * when the engine does not answer, or not in time, and is of no use after that.
 */
export class EventEngine {
  readonly #options: EventEngineOptions;
  /** Whoever waits for entries on a connection keeps all others waiting. */
  readonly #reader: Client;
  readonly #writer: Client;
  readonly #lease: string;
  readonly #stream: string;

  static async connect(options: EventEngineOptions): Promise<EventEngine> {
    const engine = new EventEngine(await import("@redis/client"), options);
    try {
      await inTime(Promise.all([engine.#reader.connect(), engine.#writer.connect()]), CONNECT_MILLIS, options.timers);
      return engine;
    } catch (error) {
      engine.close();
      throw error;
    }
  }

  private constructor(redis: Redis, options: EventEngineOptions) {
    this.#options = options;
    this.#reader = openClient(redis, options.url);
    this.#writer = openClient(redis, options.url);
    this.#lease = `${options.prefix}events:lease`;
    this.#stream = `${options.prefix}events:stream`;
  }

  /** Whether this gateway writes the events for the time of the lease from now on. One that is not ready does so until another is. */
  async takeOrRenew({ isReady }: { isReady: boolean }): Promise<boolean> {
    const { token, leaseMillis } = this.#options;
    const args = [token, String(leaseMillis), ...(isReady ? [] : ["yielding"])];
    return (await this.#command("EVAL", TAKE_OR_RENEW, "2", this.#lease, this.#stream, ...args)) === 1;
  }

  async release(): Promise<void> {
    await this.#command("EVAL", RELEASE, "1", this.#lease, this.#options.token);
  }

  /** In the order of the calls. Whether this gateway had the lease, without which nothing is written. */
  async write({ topic, data }: StreamEvent): Promise<boolean> {
    const { token } = this.#options;
    const args = [token, String(MAX_ENTRIES), topic, data, String(STREAM_SECONDS)];
    return (await this.#command("EVAL", WRITE, "2", this.#lease, this.#stream, ...args)) !== null;
  }

  /** The entries after one of them; waits for so long for the first. */
  async read(after: string, waitMillis: number): Promise<StreamEntry[]> {
    const wait = waitMillis > 0 ? ["BLOCK", String(Math.ceil(waitMillis))] : [];
    const command = ["XREAD", "COUNT", String(MAX_READ), ...wait, "STREAMS", this.#stream, after];
    const reply: unknown = await this.#inTime(this.#reader.sendCommand(command), waitMillis);
    const [[, entries]] = (reply ?? [[undefined, []]]) as [[unknown, RawEntry[]]];
    return entries.map(readEntry);
  }

  /** The newest entries, the last of them last. */
  async newest(): Promise<StreamEntry[]> {
    const reply = await this.#command("XREVRANGE", this.#stream, "+", "-", "COUNT", String(MAX_READ));
    return (reply as RawEntry[]).map(readEntry).reverse();
  }

  /** Whoever waits for entries waits no more. */
  stopReading(): void {
    if (this.#reader.isOpen) this.#reader.destroy();
  }

  close(): void {
    this.stopReading();
    if (this.#writer.isOpen) this.#writer.destroy();
  }

  #command(...command: (string | Buffer)[]): Promise<unknown> {
    return this.#inTime(this.#writer.sendCommand(command), 0);
  }

  /** Half the time of the lease is enough for others to go on in time. */
  #inTime<T>(reply: Promise<T>, waitMillis: number): Promise<T> {
    return inTime(reply, waitMillis + this.#options.leaseMillis / 2, this.#options.timers);
  }
}

type RawEntry = [id: Buffer, fields: Buffer[]];

function readEntry([id, fields]: RawEntry): StreamEntry {
  const field = (name: string) => {
    const index = fields.findIndex((text, place) => place % 2 === 0 && text.toString() === name);
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

async function inTime<T>(reply: Promise<T>, millis: number, timers: Timers): Promise<T> {
  const answered = new AbortController();
  const late = timers.sleep(millis, answered.signal).then(
    () => {
      throw new OperationalError(`It did not answer within ${millis} milliseconds.`);
    },
    () => reply,
  );
  try {
    return await Promise.race([reply, late]);
  } finally {
    late.catch(() => {});
    answered.abort();
  }
}

function openClient(redis: Redis, url: string) {
  const client = createClient(redis, url);
  // Its commands reject, and tell why.
  client.on("error", () => {});
  return client;
}
