import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { onTestFinished } from "vitest";
import { Arrivals } from "./arrivals.ts";

interface SseEvent {
  topic: string;
  data: unknown;
}

/** Reads an event stream; closed at the end of the test. */
export class SseClient {
  readonly response: IncomingMessage;
  readonly events = new Arrivals<SseEvent>();
  /** Raw blocks, including comments. */
  readonly blocks = new Arrivals<string>();
  readonly closed: Promise<void>;
  #rest = "";

  static async connect(url: string, headers: Record<string, string> = {}): Promise<SseClient> {
    const outgoing = request(url, { agent: false, headers: { Accept: "text/event-stream", ...headers } });
    outgoing.on("error", () => {});
    onTestFinished(() => {
      outgoing.destroy();
    });
    outgoing.end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return new SseClient(response);
  }

  private constructor(response: IncomingMessage) {
    this.response = response;
    this.closed = new Promise((resolve) => {
      response.once("close", () => {
        this.events.end("The stream is closed.");
        this.blocks.end("The stream is closed.");
        resolve();
      });
    });
    response.on("error", () => {});
    response.setEncoding("utf8").on("data", (text: string) => this.#receive(text));
  }

  #receive(text: string): void {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      this.blocks.push(block);
      const match = /^event: (\w+)\ndata: (.*)$/.exec(block);
      if (match) this.events.push({ topic: match[1]!, data: JSON.parse(match[2]!) });
    }
  }
}
