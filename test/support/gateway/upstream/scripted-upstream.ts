import type { IncomingMessage, ServerResponse } from "node:http";
import type { UpstreamSettings } from "../../../../src/gateway/settings.ts";
import { LoopbackServer } from "../../sockets/loopback-server.ts";

export interface ReceivedRequest {
  verb: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

type Handler = (request: ReceivedRequest, response: ServerResponse) => void;

export const GENESIS_ROOT = `0x${"11".repeat(32)}`;

export function rootAt(slot: number): string {
  return `0x${slot.toString(16).padStart(64, "0")}`;
}

/** A beacon node on loopback with scripted answers. Health requests are answered from its fields. */
export class ScriptedUpstream {
  readonly name: string;
  readonly requests: ReceivedRequest[] = [];
  headSlot = 100;
  finalizedEpoch = 10;
  syncDistance = 0;
  isOptimistic = false;
  isExecutionOffline = false;
  genesisRoot = GENESIS_ROOT;
  genesisTime = 1_600_000_000;
  /** Answers all requests other than health polls. */
  handler: Handler = (_request, response) => json(response, { data: { by: this.name } });
  /** Answers all requests, if set. */
  everything: Handler | undefined;
  /** Awaited before every response. */
  delay: (() => Promise<unknown>) | undefined;
  /** Accepts requests and never answers. */
  isFrozen = false;
  readonly #waiting: { url: string; resolve: () => void }[] = [];
  readonly #server = new LoopbackServer((request, response) => void this.#answer(request, response));

  constructor(name: string) {
    this.name = name;
  }

  get options(): UpstreamSettings {
    return { name: this.name, url: this.#server.url, tier: 0, weight: 1 };
  }

  /** URLs of the requests other than health polls. */
  get questions(): string[] {
    return this.requests.map(({ url }) => url).filter((url) => !(url in this.#healthAnswers()));
  }

  /** Reuses its port after a stop. */
  async start(): Promise<this> {
    await this.#server.start();
    return this;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** Resolves at the next request for the URL. */
  received(url: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ url, resolve }));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { method = "", url = "", headers } = request;
    const received = { verb: method, url, headers, body: Buffer.concat(chunks) };
    this.requests.push(received);
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.url === url) waiting.resolve();
      else this.#waiting.push(waiting);
    }
    if (this.isFrozen) return;
    await this.delay?.();
    const health = this.#healthAnswers()[url];
    if (this.everything) this.everything(received, response);
    else if (health !== undefined) json(response, { data: health });
    else this.handler(received, response);
  }

  #healthAnswers(): Record<string, unknown> {
    return {
      "/eth/v1/node/syncing": {
        head_slot: String(this.headSlot),
        sync_distance: String(this.syncDistance),
        is_syncing: this.syncDistance > 0,
        is_optimistic: this.isOptimistic,
        el_offline: this.isExecutionOffline,
      },
      "/eth/v1/node/version": { version: `Scripted/${this.name}` },
      "/eth/v1/beacon/headers/head": {
        root: rootAt(this.headSlot),
        header: { message: { slot: String(this.headSlot) } },
      },
      "/eth/v1/beacon/states/head/finality_checkpoints": {
        finalized: { epoch: String(this.finalizedEpoch), root: rootAt(this.finalizedEpoch) },
      },
      "/eth/v1/beacon/genesis": { genesis_time: String(this.genesisTime), genesis_validators_root: this.genesisRoot },
    };
  }
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
