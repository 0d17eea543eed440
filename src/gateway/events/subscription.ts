import { OperationalError } from "../../errors/operational-error.ts";
import type { HttpClient } from "../../http-client/http-client.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import { SseParser } from "./sse-parser.ts";

/** The upstream answered something else than a stream of events. */
export class SubscriptionRefused extends OperationalError {
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
  async open(http: HttpClient, pathPrefix: string, signal: AbortSignal): Promise<void> {
    const path = `${pathPrefix}/eth/v1/events?${queryOf(this.topics)}`;
    const request = { method: "GET", path, headers: { accept: "text/event-stream" } } as const;
    const { status, headers, body } = await http.request(request, {
      signal: AbortSignal.any([this.#abort.signal, signal]),
    });
    this.#body = body;
    const type = headers["content-type"] ?? "";
    const encoding = headers["content-encoding"] ?? "identity";
    const isOfEvents = type.startsWith("text/event-stream");
    if (status === 200 && isOfEvents && encoding === "identity") return;
    this.end();
    const found = isOfEvents ? `the encoding ${encoding}` : `${type || "no type"} instead of text/event-stream`;
    const what = status === 200 ? found : `HTTP ${status}`;
    throw new SubscriptionRefused(status, `It answered the subscription to events with ${what}.`);
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
      return new OperationalError("It ended the stream of events.");
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      this.end();
    }
  }

  /** Nothing more is told. */
  end(reason: Error = new OperationalError("The events are not read any more.")): void {
    this.#isOver = true;
    this.#abort.abort(reason);
  }
}

/** The standard's form of a list in a query. */
function queryOf(topics: readonly string[]): string {
  return topics.map((topic) => `topics=${encodeURIComponent(topic)}`).join("&");
}
