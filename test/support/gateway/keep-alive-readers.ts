import { Agent, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";

/** Same reads over both servers. */
const PATHS = [
  "/eth/v1/beacon/headers/head",
  "/eth/v1/beacon/states/head/finality_checkpoints",
  "/eth/v1/beacon/states/head/validators/3",
];
const CALLS = [
  { method: "get_v1_beacon_headers_blockId", params: ["head"] },
  { method: "get_v1_beacon_states_finality_checkpoints", params: ["head"] },
  { method: "get_v1_beacon_states_stateId_validators_validatorId", params: ["head", "3"] },
];

interface ReadersOptions {
  readonly restUrl: string;
  readonly jsonRpcUrl: string;
  /** API key of the clients. */
  readonly key: string;
  readonly count: number;
}

/** Clients that read in a loop, half of them over REST, each over one connection. Read number N has the trace id N. */
export class KeepAliveReaders {
  /** Number of the last read that was sent. */
  started = 0;
  finished = 0;
  readonly failures: string[] = [];
  /** All opened sockets. */
  readonly sockets = new Set<Socket>();
  readonly #options: ReadersOptions;
  readonly #loops: Promise<void>[];
  #isStopped = false;

  constructor(options: ReadersOptions) {
    this.#options = options;
    this.#loops = Array.from({ length: options.count }, (_, index) => this.#loop(index % 2 === 0));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
  }

  async #loop(isRest: boolean): Promise<void> {
    const { restUrl, jsonRpcUrl } = this.#options;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!this.#isStopped) {
      const id = ++this.started;
      const call = { jsonrpc: "2.0", id, ...CALLS[id % CALLS.length] };
      const reading = isRest
        ? this.#read(agent, id, restUrl + PATHS[id % PATHS.length])
        : this.#read(agent, id, jsonRpcUrl, JSON.stringify(call));
      await reading.catch((error: Error) => this.failures.push(`${isRest ? "REST" : "JSON-RPC"}: ${error.message}`));
      this.finished++;
    }
    agent.destroy();
  }

  async #read(agent: Agent, id: number, url: string, body?: string): Promise<void> {
    const { promise: responded, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const traceparent = `00-${id.toString(16).padStart(32, "0")}-${"1".repeat(16)}-01`;
    const headers = { "X-Api-Key": this.#options.key, traceparent, "Content-Type": "application/json" };
    const sent = request(url, { agent, method: body === undefined ? "GET" : "POST", headers }, resolve);
    sent.on("socket", (socket) => this.sockets.add(socket)).on("error", reject);
    sent.end(body);
    const response = await responded;
    const answer = await text(response);
    const isAnswered = response.statusCode === 200 && !("error" in JSON.parse(answer));
    if (!isAnswered) throw new Error(`${response.statusCode} ${answer}`);
  }
}
