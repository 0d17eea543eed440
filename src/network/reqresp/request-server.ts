import type { Connection, Stream } from "@libp2p/interface";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import { TokenBucket } from "../../async/token-bucket.ts";
import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";
import { PeerBuckets } from "../peer-buckets.ts";
import type { PeerReporter } from "../peers/peer-scores.ts";
import { ErrorResponse, ProtocolViolation, RateLimited, StreamReset, StreamTimeout } from "./errors.ts";
import type { ReqRespLimits } from "./limits.ts";
import {
  type ProtocolHandler,
  type ProtocolHandlerParts,
  type ProtocolResponse,
  protocolHandler,
} from "./protocol-handlers.ts";
import { type Protocol, type ProtocolName, protocolId, ResponseCode, servedProtocols } from "./protocols.ts";
import { encodeChunk, encodeErrorChunk } from "./response-chunk.ts";
import { RequestQueue } from "./self-limiter.ts";
import { readPayload } from "./ssz-snappy.ts";
import { closeStream, endWriting, StreamReader, writeAll } from "./stream-io.ts";

interface RequestServerParts extends ProtocolHandlerParts {
  host: Host;
  reporter: PeerReporter;
  logger: Logger;
  limits: ReqRespLimits;
}

/** Further streams are reset by the host. */
const STREAMS_PER_CONNECTION = 16;

/** Serves requests from peers (phase0/p2p-interface.md, Responding side). Never throws on invalid input from a peer. */
export class RequestServer {
  readonly #parts: RequestServerParts;
  readonly #inbound: InboundLimiter;
  readonly #slots: RequestQueue;
  readonly #buckets: PeerBuckets;
  readonly #allBlocks: TokenBucket;
  readonly #allSidecars: TokenBucket;
  readonly #streams = new Set<Stream>();
  readonly #closing = new AbortController();

  constructor(parts: RequestServerParts) {
    this.#parts = parts;
    this.#inbound = new InboundLimiter(parts.limits.inboundPerProtocol);
    this.#slots = new RequestQueue(parts.limits.inboundTotal, parts.limits.inboundTotal);
    this.#buckets = new PeerBuckets(SYSTEM_TIMERS);
    this.#allBlocks = new TokenBucket(parts.limits.totalBlockRate, SYSTEM_TIMERS);
    this.#allSidecars = new TokenBucket(parts.limits.totalSidecarRate, SYSTEM_TIMERS);
  }

  async start(): Promise<void> {
    for (const protocol of servedProtocols()) {
      const handler = protocolHandler(protocol, this.#parts);
      await this.#parts.host.handle(
        protocolId(protocol),
        (stream, connection) => this.#serve(stream, connection, protocol, handler),
        { maxInboundStreams: STREAMS_PER_CONNECTION },
      );
    }
  }

  async close(): Promise<void> {
    await this.#parts.host.unhandle(servedProtocols().map(protocolId));
    this.#closing.abort();
    for (const stream of this.#streams) stream.abort(new Error("The node is shutting down."));
  }

  async #serve(stream: Stream, connection: Connection, { name }: Protocol, handler: ProtocolHandler): Promise<void> {
    const { limits, logger } = this.#parts;
    const peerId = connection.remotePeer.toString();
    const key = `${peerId}/${name}`;
    this.#streams.add(stream);
    const overall = setTimeout(() => stream.abort(new StreamTimeout("The response took too long.")), limits.responseMs);
    try {
      if (this.#inbound.enter(key)) {
        await this.#respond(stream, peerId, name, handler).finally(() => this.#inbound.leave(key));
      } else {
        await this.#respondWithError(stream, peerId, name, new RateLimited("Too many concurrent requests."));
      }
    } catch (error) {
      logger.debug("Inbound request failed", { peer: peerId, protocol: name, error });
      stream.abort(error instanceof Error ? error : new Error(String(error)));
    } finally {
      clearTimeout(overall);
      this.#streams.delete(stream);
    }
  }

  /**
   * Responds to a request. Holds the peer's concurrency slot until the peer has closed the stream or the linger time is
   * over.
   */
  async #respond(stream: Stream, peerId: string, name: ProtocolName, handler: ProtocolHandler): Promise<void> {
    const { limits } = this.#parts;
    const reader = new StreamReader(stream);
    let response: ProtocolResponse | undefined;
    try {
      const body = await this.#readRequest(reader, handler);
      await this.#awaitTokens(peerId, name);
      response = handler.handle(peerId, body);
      const release = await this.#acquireSlot(response);
      await this.#writeChunks(stream, peerId, response).finally(release);
      await endWriting(stream, limits.writeMs);
    } catch (error) {
      await this.#respondWithError(stream, peerId, name, error);
    } finally {
      reader.detach();
      // Peers that send a goodbye rarely wait for the response.
      response?.afterwards?.();
    }
    await closeStream(stream, limits.lingerMs);
  }

  async #readRequest(reader: StreamReader, { bounds }: ProtocolHandler): Promise<Uint8Array> {
    const { limits, config } = this.#parts;
    reader.setDeadline(limits.requestMs);
    const body = bounds === null ? new Uint8Array(0) : await readPayload(reader, bounds, config.MAX_PAYLOAD_SIZE);
    if ((await reader.readByteOrEnd()) !== undefined) throw new ProtocolViolation("Unexpected data after the request.");
    return body;
  }

  /** Delays the response, as the specification recommends. Refuses a request that would have to wait too long. */
  async #awaitTokens(peerId: string, name: ProtocolName): Promise<void> {
    const { requestRates, maxDelayMs } = this.#parts.limits;
    const bucket = this.#buckets.bucket(peerId, name, requestRates[name]);
    if (bucket.delayFor(1) > maxDelayMs) throw new RateLimited("Rate limited: too many requests.");
    await this.#pause(bucket.take(1));
  }

  /**
   * Acquires a slot for a block or sidecar response and returns a function that releases it. Single messages need no
   * slot, and requests that are incomplete do not hold one.
   */
  async #acquireSlot({ content }: ProtocolResponse): Promise<() => void> {
    if (content === "message") return () => {};
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), this.#parts.limits.maxDelayMs);
    try {
      return await this.#slots.take("", AbortSignal.any([over.signal, this.#closing.signal]));
    } catch {
      throw new ErrorResponse(ResponseCode.RESOURCE_UNAVAILABLE, "The node is busy.");
    } finally {
      clearTimeout(timer);
    }
  }

  async #writeChunks(stream: Stream, peerId: string, { chunks, content }: ProtocolResponse): Promise<void> {
    const { writeMs } = this.#parts.limits;
    for await (const { bytes, forkDigest } of chunks) {
      await this.#pause(this.#delayOf(peerId, content, bytes.length));
      await writeAll(stream, encodeChunk(bytes, forkDigest), writeMs);
    }
  }

  #delayOf(peerId: string, content: ProtocolResponse["content"], bytes: number): number {
    const { peerBlockRate, peerSidecarRate } = this.#parts.limits;
    if (content === "message") return 0;
    if (content === "blocks")
      return Math.max(this.#buckets.bucket(peerId, content, peerBlockRate).take(1), this.#allBlocks.take(1));
    return Math.max(this.#buckets.bucket(peerId, content, peerSidecarRate).take(bytes), this.#allSidecars.take(bytes));
  }

  async #pause(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await SYSTEM_TIMERS.sleep(milliseconds, this.#closing.signal);
  }

  /** Sends an error response. Resets the stream if the peer does not read it. */
  async #respondWithError(stream: Stream, peerId: string, name: ProtocolName, error: unknown): Promise<void> {
    const { reporter, logger, limits } = this.#parts;
    if (error instanceof StreamReset || stream.status !== "open") throw error;
    if (error instanceof StreamTimeout) {
      reporter.penalize(peerId, "moderate", `${name}: ${error.message}`);
      throw error;
    }
    if (error instanceof ProtocolViolation) reporter.penalize(peerId, "severe", `${name}: ${error.message}`);
    if (error instanceof RateLimited) reporter.penalize(peerId, "mild", `${name}: ${error.message}`);
    const response = errorResponseTo(error);
    if (response.code === ResponseCode.SERVER_ERROR) logger.warn("Could not serve request", { protocol: name, error });
    await writeAll(stream, encodeErrorChunk(response.code, response.message), limits.writeMs);
    await endWriting(stream, limits.writeMs);
    await closeStream(stream, limits.lingerMs);
  }
}

function errorResponseTo(error: unknown): ErrorResponse {
  if (error instanceof ErrorResponse) return error;
  if (error instanceof ProtocolViolation) return new ErrorResponse(ResponseCode.INVALID_REQUEST, error.message);
  return new ErrorResponse(ResponseCode.SERVER_ERROR, "The request could not be served.");
}

/** Limits the number of concurrent requests per key. */
class InboundLimiter {
  readonly #perKey: number;
  readonly #counts = new Map<string, number>();

  constructor(perKey: number) {
    this.#perKey = perKey;
  }

  /** Returns false if the limit is reached. */
  enter(key: string): boolean {
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#perKey) return false;
    this.#counts.set(key, count + 1);
    return true;
  }

  leave(key: string): void {
    const count = (this.#counts.get(key) ?? 0) - 1;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}
