import { OperationalError } from "../../../errors/operational-error.ts";
import type { HttpClient } from "../../../http-client/http-client.ts";
import type { StreamEvent } from "../../../server/events/feed.ts";
import { SseParser } from "./sse-parser.ts";

/** The upstream did not respond with an event stream. */
export class SubscriptionRejected extends OperationalError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "SubscriptionRejected";
    this.status = status;
  }
}

/** One SSE connection to an upstream. */
export class SseConnection {
  readonly topics: readonly string[];
  readonly #abort = new AbortController();
  #body: AsyncIterable<Buffer> | undefined;
  #isOver = false;

  constructor(topics: readonly string[]) {
    this.topics = topics;
  }

  /**
   * Resolves with the response headers. Some upstreams send them at once, others with the first event. Later events are
   * buffered.
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
    const isEventStream = type.startsWith("text/event-stream");
    if (status === 200 && isEventStream && encoding === "identity") return;
    this.end();
    const contentProblem = isEventStream
      ? `content encoding ${encoding}`
      : `${type || "no type"} instead of text/event-stream`;
    const problem = status === 200 ? contentProblem : `HTTP ${status}`;
    throw new SubscriptionRejected(status, `It answered the event subscription with ${problem}.`);
  }

  /** Reads until the stream ends. Resolves with the reason. `onBytes` is called for any data, including comments. */
  async read(onEvent: (event: StreamEvent) => void, onBytes: () => void): Promise<Error> {
    const parser = new SseParser((event) => {
      if (!this.#isOver && this.topics.includes(event.topic)) onEvent(event);
    });
    try {
      for await (const chunk of this.#body!) {
        onBytes();
        parser.push(chunk);
      }
      return new OperationalError("It closed the event stream.");
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      this.end();
    }
  }

  /** Closes the connection. */
  end(reason: Error = new OperationalError("The event stream is no longer read.")): void {
    this.#isOver = true;
    this.#abort.abort(reason);
  }
}

/** Repeats the parameter for each topic, as the Beacon API specifies. */
function queryOf(topics: readonly string[]): string {
  return topics.map((topic) => `topics=${encodeURIComponent(topic)}`).join("&");
}
