import { type Dispatcher, request } from "undici";
import { ForeseenError } from "../../foreseen-error.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import type { UpstreamOptions } from "../options.ts";
import { SseParser } from "./sse-parser.ts";

/** The upstream answered something else than a stream of events. */
export class SubscriptionRefused extends ForeseenError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "SubscriptionRefused";
    this.status = status;
  }
}

/** One connection on which an upstream tells events. */
export class Subscription {
  readonly topics: readonly string[];
  readonly #abort = new AbortController();
  #body: AsyncIterable<Buffer> | undefined;
  #isOver = false;

  constructor(topics: readonly string[]) {
    this.topics = topics;
  }

  /**
   * Resolves when the upstream has begun to tell; what happens from then on waits to be read. Some begin at once, others with the first
   * event.
   */
  async open(
    { url, authorization }: UpstreamOptions,
    { dispatcher, signal }: { dispatcher: Dispatcher; signal: AbortSignal },
  ): Promise<void> {
    const { statusCode, headers, body } = await request(eventsUrl(url, this.topics), {
      dispatcher,
      signal: AbortSignal.any([this.#abort.signal, signal]),
      headers: { accept: "text/event-stream", ...(authorization !== undefined && { authorization }) },
    });
    // What ends before it is read fails nobody.
    body.on("error", () => {});
    this.#body = body;
    const type = String(headers["content-type"] ?? "");
    const encoding = String(headers["content-encoding"] ?? "identity");
    const isOfEvents = type.startsWith("text/event-stream");
    if (statusCode === 200 && isOfEvents && encoding === "identity") return;
    this.end();
    const found = isOfEvents ? `the encoding ${encoding}` : `${type || "no type"} instead of text/event-stream`;
    const what = statusCode === 200 ? found : `HTTP ${statusCode}`;
    throw new SubscriptionRefused(statusCode, `It answered the subscription to events with ${what}.`);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves with the reason when nothing more comes. `onBytes` hears of any sign of life, be it a comment or a topic that nobody asked for. */
  async read(onEvent: (event: StreamEvent) => void, onBytes: () => void): Promise<Error> {
    const parser = new SseParser((event) => {
      if (!this.#isOver && this.topics.includes(event.topic)) onEvent(event);
    });
    try {
      for await (const chunk of this.#body!) {
        onBytes();
        parser.push(chunk);
      }
      return new ForeseenError("It ended the stream of events.");
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      this.end();
    }
  }

  /** Nothing more is told. */
  end(reason: Error = new ForeseenError("The events are not read any more.")): void {
    this.#isOver = true;
    this.#abort.abort(reason);
  }
}

/** The standard's form of a list in a query. */
function eventsUrl(url: string, topics: readonly string[]): string {
  const query = topics.map((topic) => `topics=${encodeURIComponent(topic)}`).join("&");
  return `${url.replace(/\/+$/, "")}/eth/v1/events?${query}`;
}
