import { setTimeout as sleep } from "node:timers/promises";
import type { Connection, Stream } from "@libp2p/interface";
import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";
import type { PeerJudge } from "../peers/peer-judge.ts";
import { PeerBuckets } from "../rates/peer-buckets.ts";
import { TokenBucket } from "../rates/token-bucket.ts";
import { InboundPlaces } from "./inbound-places.ts";
import type { ReqRespLimits } from "./limits.ts";
import { readPayload } from "./payload.ts";
import { ProtocolViolation } from "./protocol-violation.ts";
import { type Protocol, type ProtocolName, protocolId, servedProtocols } from "./protocols.ts";
import { Refusal } from "./refusal.ts";
import { type Answer, type RequestAnswersParts, type RequestKind, requestKind } from "./request-answers.ts";
import { ResourceUnavailable } from "./resource-unavailable.ts";
import { encodeChunk, encodeErrorChunk, ResponseCode } from "./response-chunk.ts";
import { StreamFailure, StreamTimeout } from "./stream-errors.ts";
import { StreamReader } from "./stream-reader.ts";
import { closeStream, endWriting, writeAll } from "./stream-writer.ts";

export interface RequestServerParts extends RequestAnswersParts {
  host: Host;
  judge: PeerJudge;
  logger: Logger;
  limits: ReqRespLimits;
}

/** Streams beyond these are reset by the host itself. */
const STREAMS_PER_CONNECTION = 16;

/** Answers the requests of peers (phase0/p2p-interface.md, Responding side). Nothing that a peer sends makes it throw. */
export class RequestServer {
  readonly #parts: RequestServerParts;
  readonly #places: InboundPlaces;
  readonly #buckets: PeerBuckets;
  readonly #allBlocks: TokenBucket;
  readonly #streams = new Set<Stream>();
  readonly #closing = new AbortController();

  constructor(parts: RequestServerParts) {
    const now = (): number => performance.now();
    this.#parts = parts;
    this.#places = new InboundPlaces(parts.limits.inboundPerProtocol, parts.limits.inboundTotal);
    this.#buckets = new PeerBuckets(now);
    this.#allBlocks = new TokenBucket(parts.limits.totalBlockRate, now);
  }

  async start(): Promise<void> {
    for (const protocol of servedProtocols()) {
      const kind = requestKind(protocol, this.#parts);
      await this.#parts.host.handle(
        protocolId(protocol),
        (stream, connection) => this.#serve(stream, connection, protocol, kind),
        { maxInboundStreams: STREAMS_PER_CONNECTION },
      );
    }
  }

  async close(): Promise<void> {
    await this.#parts.host.unhandle(servedProtocols().map(protocolId));
    this.#closing.abort();
    for (const stream of this.#streams) stream.abort(new Error("The node stops."));
  }

  async #serve(stream: Stream, connection: Connection, { name }: Protocol, kind: RequestKind): Promise<void> {
    const { limits, logger } = this.#parts;
    const peerId = connection.remotePeer.toString();
    const place = `${peerId}/${name}`;
    const isRefused = this.#places.isFull() || this.#places.isFullFor(place);
    this.#streams.add(stream);
    const overall = setTimeout(() => stream.abort(new StreamTimeout("The answer took too long.")), limits.responseMs);
    try {
      if (isRefused) await this.#refuse(stream, peerId, name, this.#crowded(place));
      else {
        this.#places.enter(place);
        await this.#answer(stream, peerId, name, kind).finally(() => this.#places.leave(place));
      }
    } catch (error) {
      logger.debug("A request of a peer was not answered.", { peer: peerId, protocol: name, error });
      stream.abort(error instanceof Error ? error : new Error(String(error)));
    } finally {
      clearTimeout(overall);
      this.#streams.delete(stream);
    }
  }

  #crowded(place: string): Refusal {
    return this.#places.isFullFor(place)
      ? new TooMuch("Too many requests at a time.")
      : new Refusal(ResponseCode.RESOURCE_UNAVAILABLE, "The node is busy.");
  }

  /** The place is held until the peer has ended the stream too, or the time for that is over. */
  async #answer(stream: Stream, peerId: string, name: ProtocolName, kind: RequestKind): Promise<void> {
    const { limits } = this.#parts;
    const reader = new StreamReader(stream);
    let answer: Answer | undefined;
    try {
      const body = await this.#readRequest(reader, kind);
      await this.#awaitTokens(peerId, name);
      answer = kind.answer(peerId, body);
      await this.#writeChunks(stream, peerId, answer);
      await endWriting(stream, limits.writeMs);
    } catch (error) {
      await this.#refuse(stream, peerId, name, error);
    } finally {
      reader.detach();
      // Whoever says goodbye seldom waits for the answer, and has said it nevertheless.
      answer?.afterwards?.();
    }
    await closeStream(stream, limits.lingerMs);
  }

  async #readRequest(reader: StreamReader, { bounds }: RequestKind): Promise<Uint8Array> {
    const { limits, config } = this.#parts;
    reader.allowTime(limits.requestMs);
    const body = bounds === null ? new Uint8Array(0) : await readPayload(reader, bounds, config.MAX_PAYLOAD_SIZE);
    if ((await reader.readByteOrEnd()) !== undefined)
      throw new ProtocolViolation("The request is followed by more data.");
    return body;
  }

  /** Withholds the answer, as the specification wants it; what would wait too long is refused after all. */
  async #awaitTokens(peerId: string, name: ProtocolName): Promise<void> {
    const { requestRates, withholdMs } = this.#parts.limits;
    const bucket = this.#buckets.bucket(peerId, name, requestRates[name]);
    if (bucket.delayFor(1) > withholdMs) throw new TooMuch("Too many requests; this one was rate limited.");
    await this.#pause(bucket.take(1));
  }

  async #writeChunks(stream: Stream, peerId: string, { chunks, areBlocks }: Answer): Promise<void> {
    const { peerBlockRate, writeMs } = this.#parts.limits;
    for await (const { bytes, forkDigest } of chunks) {
      if (areBlocks) {
        const own = this.#buckets.bucket(peerId, "blocks", peerBlockRate).take(1);
        await this.#pause(Math.max(own, this.#allBlocks.take(1)));
      }
      await writeAll(stream, encodeChunk(bytes, forkDigest), writeMs);
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await sleep(milliseconds, undefined, { signal: this.#closing.signal });
  }

  /** Answers with the error as far as it is the peer's to know; resets the stream if the peer does not take even that. */
  async #refuse(stream: Stream, peerId: string, name: ProtocolName, error: unknown): Promise<void> {
    const { judge, logger, limits } = this.#parts;
    if (error instanceof StreamFailure || stream.status !== "open") throw error;
    if (error instanceof StreamTimeout) {
      judge.penalize(peerId, "moderate", `${name}: ${error.message}`);
      throw error;
    }
    if (error instanceof ProtocolViolation) judge.penalize(peerId, "severe", `${name}: ${error.message}`);
    if (error instanceof TooMuch) judge.penalize(peerId, "mild", `${name}: ${error.message}`);
    const refusal = describe(error);
    if (refusal.code === ResponseCode.SERVER_ERROR)
      logger.warn("A request of a peer could not be answered.", { protocol: name, error });
    await writeAll(stream, encodeErrorChunk(refusal.code, refusal.message), limits.writeMs);
    await endWriting(stream, limits.writeMs);
    await closeStream(stream, limits.lingerMs);
  }
}

/** The peer asks more often than it should. */
class TooMuch extends Refusal {
  constructor(message: string) {
    super(ResponseCode.RESOURCE_UNAVAILABLE, message);
    this.name = "TooMuch";
  }
}

function describe(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ProtocolViolation) return new Refusal(ResponseCode.INVALID_REQUEST, error.message);
  if (error instanceof ResourceUnavailable) return new Refusal(ResponseCode.RESOURCE_UNAVAILABLE, error.message);
  return new Refusal(ResponseCode.SERVER_ERROR, "The request could not be answered.");
}
