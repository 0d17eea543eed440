import type { BeaconConfig } from "@lodestar/config";
import type { Clock } from "../../chain/clock/clock.ts";
import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";
import type { PeerReporter } from "../peers/peer-scores.ts";
import { RequestError } from "./errors.ts";
import type { BeaconRequests, RequestHandlers } from "./interface.ts";
import { DEFAULT_LIMITS, type ReqRespLimits } from "./limits.ts";
import { createPeerRequests, goodbyeRequest, type PeerRequest } from "./peer-requests.ts";
import { type ProtocolName, ResponseCode } from "./protocols.ts";
import { RequestClient } from "./request-client.ts";
import { RequestServer } from "./request-server.ts";

interface ReqRespParts {
  host: Host;
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch">;
  handlers: RequestHandlers;
  reporter: PeerReporter;
  logger: Logger;
  /** Overrides for the default limits. */
  limits?: Partial<ReqRespLimits>;
}

/**
 * Request/response protocols in both directions (phase0/p2p-interface.md, The Req/Resp domain). `createPeerRequests`
 * defines the requesting side of each protocol, and `protocolHandler` the responding side.
 */
export class ReqResp {
  readonly requests: BeaconRequests;
  readonly #parts: ReqRespParts;
  readonly #logger: Logger;
  readonly #limits: ReqRespLimits;
  readonly #client: RequestClient;
  readonly #server: RequestServer;

  constructor(parts: ReqRespParts) {
    const { host, config, clock, handlers, reporter, logger } = parts;
    const limits = { ...DEFAULT_LIMITS, ...parts.limits };
    this.#parts = parts;
    this.#logger = logger;
    this.#limits = limits;
    this.#client = new RequestClient({ host, limits, maxPayload: config.MAX_PAYLOAD_SIZE });
    this.requests = {
      ...createPeerRequests(parts, (peerId, request, signal) => this.#request(peerId, request, signal)),
      goodbye: (peerId, reason) => this.#goodbye(peerId, reason),
    };
    this.#server = new RequestServer({ host, config, clock, handlers, reporter, logger, limits });
  }

  /** Registers the protocol handlers. */
  async start(): Promise<void> {
    await this.#server.start();
  }

  /** Aborts all requests in both directions. */
  async close(): Promise<void> {
    this.#client.close();
    await this.#server.close();
  }

  /** Resolves when the peer has responded, or after the linger time. */
  async #goodbye(peerId: string, reason: bigint): Promise<void> {
    try {
      // Many peers disconnect without responding.
      await this.#client.request(peerId, goodbyeRequest(reason), AbortSignal.timeout(this.#limits.lingerMs));
    } catch (error) {
      this.#logger.trace("Goodbye not answered", { peer: peerId, error });
    }
  }

  /** Sends a request and returns its response. Penalizes the peer if it caused a failure. */
  async #request<T>(peerId: string, request: PeerRequest<T>, signal: AbortSignal | undefined): Promise<T> {
    const { name, maxChunks, maxItems, content } = request;
    if (maxChunks > maxItems)
      throw new RangeError(`Cannot request ${maxChunks} ${content} at once. The maximum is ${maxItems}.`);
    try {
      if (maxChunks > 0) await this.#client.request(peerId, request, signal);
      return request.result();
    } catch (error) {
      if (error instanceof RequestError) {
        const { failure, message: reason } = error;
        this.#logger.debug("Request failed", { peer: peerId, protocol: name, failure, reason });
        penalizeFailure(this.#parts.reporter, peerId, name, error);
      }
      throw error;
    }
  }
}

/** A peer that does not support these protocols is useless. */
const REQUIRED_PROTOCOLS: ReadonlySet<ProtocolName> = new Set(["status", "ping", "metadata"]);

/** Penalizes the peer if it caused the failure. */
function penalizeFailure(reporter: PeerReporter, peerId: string, name: ProtocolName, error: RequestError): void {
  switch (error.failure) {
    case "malformed":
      reporter.penalize(peerId, "severe", `${name}: ${error.message}`);
      break;
    case "timeout":
      reporter.penalize(peerId, "moderate", `${name}: ${error.message}`);
      break;
    case "refused":
      // Other codes mean that the request was too large or the data is unavailable.
      if (error.code === undefined || error.code === ResponseCode.SERVER_ERROR) {
        reporter.penalize(peerId, "mild", `${name}: ${error.message}`);
      }
      break;
    case "unsupported":
      if (REQUIRED_PROTOCOLS.has(name)) reporter.penalize(peerId, "severe", `${name}: ${error.message}`);
      break;
    case "disconnected":
      break;
  }
}
