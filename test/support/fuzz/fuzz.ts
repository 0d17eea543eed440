import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { WebSocket } from "ws";
import { type Callable, type FuzzedRequest, fuzzedRequests } from "./requests.ts";

interface FuzzOptions {
  jsonRpcUrl: string;
  restUrl: string;
  callables: readonly Callable[];
  requests: number;
  seed: number;
  /** Called periodically with the number of sent requests. Awaited before the next batch. */
  onProgress?(sent: number): Promise<void>;
}

export interface FuzzReport {
  /** Number of responses by kind: HTTP status, JSON-RPC error code, or `result`. */
  answers: Map<string, number>;
  /** Requests with internal errors, and the responses. */
  defects: string[];
}

/** Requests per batch. The seeds of a run are consecutive. */
const BATCH_SIZE = 1000;
const AT_ONCE = 8;
/** Timeout for requests that may have no response, such as partial requests and notifications. */
const SILENCE_MILLIS = 50;
/** Maximum length to read of an endless response such as an event stream. */
const READ_BYTES = 64 * 1024;
const MAX_DEFECTS = 20;

const INTERNAL_ERROR = -32603;

/** Sends fuzzed requests to a node with limited concurrency, and checks the responses. */
export async function fuzz({ callables, requests, seed, onProgress, ...urls }: FuzzOptions): Promise<FuzzReport> {
  const report: FuzzReport = { answers: new Map(), defects: [] };
  const arbitrary = fuzzedRequests(callables);
  const sender = new Sender(urls, report);
  for (let sent = 0; sent < requests; sent += BATCH_SIZE) {
    const share = fc.sample(arbitrary, {
      numRuns: Math.min(BATCH_SIZE, requests - sent),
      seed: seed + sent / BATCH_SIZE,
    });
    await Promise.all(Array.from({ length: AT_ONCE }, () => sender.sendAll(share)));
    await onProgress?.(sent + BATCH_SIZE);
  }
  sender.close();
  return report;
}

class Sender {
  readonly #urls: { jsonRpcUrl: string; restUrl: string };
  readonly #report: FuzzReport;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(urls: { jsonRpcUrl: string; restUrl: string }, report: FuzzReport) {
    this.#urls = urls;
    this.#report = report;
  }

  /** Sends requests until the list is empty. */
  async sendAll(requests: FuzzedRequest[]): Promise<void> {
    let messages: MessageSender | undefined;
    for (let next = requests.pop(); next !== undefined; next = requests.pop()) {
      if (next.to === "websocket") messages = await this.#sendMessage(messages, next);
      else if (next.to === "socket") await this.#sendBytes(next);
      else await this.#sendRequest(next);
    }
    messages?.end();
  }

  close(): void {
    this.#agent.destroy();
  }

  async #sendRequest(given: Extract<FuzzedRequest, { to: "json-rpc" | "rest" }>): Promise<void> {
    const { jsonRpcUrl, restUrl } = this.#urls;
    const target =
      given.to === "rest"
        ? { url: restUrl, verb: given.verb, path: given.path, headers: given.headers }
        : { url: jsonRpcUrl, verb: "POST", path: "/", headers: { "Content-Type": "application/json" } };
    const { hostname, port } = new URL(target.url);
    const { path, verb: method, headers } = target;
    const sent = request({ hostname, port, path, method, headers, agent: this.#agent });
    sent.end(given.body);
    try {
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      this.#judge(given, response.statusCode!, await beginningOf(response));
    } catch (error) {
      // The node may close a connection, also a kept one at the time of the next request.
      this.#count(`no answer (${(error as { code?: string }).code})`);
    }
  }

  /** Reuses the connection while it is open. Continues after a short timeout. */
  async #sendMessage(
    before: MessageSender | undefined,
    given: Extract<FuzzedRequest, { to: "websocket" }>,
  ): Promise<MessageSender> {
    const sender = before?.isOpen ? before : await MessageSender.open(this.#urls.jsonRpcUrl);
    const answer = await sender.send(given.body, given.binary);
    if (answer === undefined) this.#count("no message");
    else this.#judge(given, 101, answer);
    return sender;
  }

  async #sendBytes(given: Extract<FuzzedRequest, { to: "socket" }>): Promise<void> {
    const { hostname, port } = new URL(given.server === "rest" ? this.#urls.restUrl : this.#urls.jsonRpcUrl);
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.write(given.bytes);
    await closedOrSilent(socket);
    socket.destroy();
    for (const [, status] of text.matchAll(/^HTTP\/1\.1 (\d+)/gm)) this.#judge(given, Number(status), "");
    if (text === "") this.#count("no answer");
  }

  #judge(given: FuzzedRequest, status: number, text: string): void {
    this.#count(`HTTP ${status}`);
    const codes = [...text.matchAll(/"error":\{"code":(-?\d+)/g)].map(([, code]) => Number(code));
    for (const code of codes) this.#count(String(code));
    if (text.includes('"result":')) this.#count("result");
    const isDefect = status === 500 || codes.includes(INTERNAL_ERROR);
    if (isDefect && this.#report.defects.length < MAX_DEFECTS) {
      this.#report.defects.push(`${describe(given)} -> ${status} ${text.slice(0, 500)}`);
    }
  }

  #count(kind: string): void {
    const { answers } = this.#report;
    answers.set(kind, (answers.get(kind) ?? 0) + 1);
  }
}

/** WebSocket client with one message in flight. */
class MessageSender {
  readonly #socket: WebSocket;
  #heard: ((message: string | undefined) => void) | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("close", () => this.#heard?.(undefined));
    socket.on("message", (data) => this.#heard?.(String(data)));
  }

  static async open(jsonRpcUrl: string): Promise<MessageSender> {
    const socket = new WebSocket(jsonRpcUrl.replace("http", "ws"));
    await once(socket, "open");
    return new MessageSender(socket);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Returns the next message of the node, or undefined after a short timeout. */
  async send(body: Buffer, binary: boolean): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#heard = resolve;
    this.#socket.send(body, { binary });
    const timeout = setTimeout(() => resolve(undefined), SILENCE_MILLIS);
    const message = await promise;
    clearTimeout(timeout);
    return message;
  }

  end(): void {
    this.#socket.terminate();
  }
}

function closedOrSilent(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const timeout = setTimeout(resolve, SILENCE_MILLIS);
    socket.once("close", () => {
      clearTimeout(timeout);
      resolve();
    });
  });
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  // Event streams are endless.
  const isStream = response.headers["content-type"]?.startsWith("text/event-stream");
  let text = "";
  response.setEncoding("latin1");
  if (isStream) {
    response.destroy();
    return text;
  }
  for await (const chunk of response) if (text.length < READ_BYTES) text += chunk;
  return text;
}

function describe(given: FuzzedRequest): string {
  if (given.to === "socket") return `${given.to} ${given.server} ${given.bytes.toString("latin1")}`;
  const what = given.to === "rest" ? ` ${given.verb} ${given.path} ${JSON.stringify(given.headers)}` : "";
  return `${given.to}${what} ${given.body?.toString("latin1").slice(0, 3000) ?? ""}`;
}
