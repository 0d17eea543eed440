import type { Connection, Stream } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import type { Host } from "../libp2p/host.ts";
import { ProtocolViolation, RequestError, StreamReset, StreamTimeout, UnexpectedEnd } from "./errors.ts";
import type { ReqRespLimits } from "./limits.ts";
import { type ProtocolName, protocolId, ResponseCode } from "./protocols.ts";
import { type ChunkFormat, type ResponseChunk, readChunk, readErrorMessage } from "./response-chunk.ts";
import { abortedError, RequestQueue, RequestQuotas } from "./self-limiter.ts";
import { encodePayload } from "./ssz-snappy.ts";
import { closeStream, endWriting, StreamReader, writeAll } from "./stream-io.ts";

/** An outbound request and the decoder for its response. */
export interface OutboundRequest {
  name: ProtocolName;
  /** In order of preference. */
  versions: readonly number[];
  /** Returns the request for the negotiated version as SSZ. Null if requests have no body. */
  body(version: number): Uint8Array | null;
  /**
   * A peer that sends more chunks violates the protocol. Also counted as the request's cost in the peer's rate limit.
   */
  maxChunks: number;
  format(version: number): ChunkFormat;
  /** Throws a `ProtocolViolation` if the chunk is unexpected. */
  onChunk(chunk: ResponseChunk, version: number): void;
}

interface RequestClientParts {
  host: Host;
  limits: ReqRespLimits;
  /** Maximum payload size of a chunk, in bytes. */
  maxPayload: number;
}

/** Sends requests to connected peers (phase0/p2p-interface.md, Requesting side). Rejects with a `RequestError`. */
export class RequestClient {
  readonly #parts: RequestClientParts;
  readonly #queue: RequestQueue;
  readonly #quotas = new RequestQuotas(SYSTEM_TIMERS);
  readonly #closing = new AbortController();

  constructor(parts: RequestClientParts) {
    this.#parts = parts;
    this.#queue = new RequestQueue(parts.limits.outboundPerProtocol, parts.limits.outboundWaiting);
  }

  async request(peerId: string, request: OutboundRequest, signal?: AbortSignal): Promise<void> {
    const { signal: closing } = this.#closing;
    const abortSignal = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    const release = await this.#queue.take(`${peerId}/${request.name}`, abortSignal);
    try {
      await this.#awaitQuota(peerId, request, abortSignal);
      await this.#exchange(this.#connectionTo(peerId), request, abortSignal);
    } catch (error) {
      throw abortSignal.aborted ? abortedError(abortSignal) : error;
    } finally {
      release();
    }
  }

  close(): void {
    this.#closing.abort(new Error("The node is shutting down."));
  }

  #connectionTo(peerId: string): Connection {
    const connection = this.#parts.host
      .getConnections(peerIdFromString(peerId))
      .find(({ status }) => status === "open");
    if (connection === undefined) throw new RequestError("disconnected", "The peer is not connected.");
    return connection;
  }

  async #awaitQuota(peerId: string, { name, maxChunks }: OutboundRequest, signal: AbortSignal): Promise<void> {
    const protocols = await this.#protocolsOf(peerId);
    const delay = this.#quotas.delay(peerId, name, maxChunks, protocols);
    if (delay > 0) await SYSTEM_TIMERS.sleep(delay, signal);
  }

  async #protocolsOf(peerId: string): Promise<string[]> {
    try {
      return (await this.#parts.host.peerStore.get(peerIdFromString(peerId))).protocols;
    } catch {
      return [];
    }
  }

  /**
   * Life cycle of a request (phase0/p2p-interface.md, Requesting side):
   *
   * 1. `request` waits for one of `MAX_CONCURRENT_REQUESTS` slots per peer and protocol, then for the peer's quota.
   * 2. Open a stream and negotiate the newest common version, within `ttfbTimeoutMs`.
   * 3. Write the request at once and close the write side, each within `writeMs`.
   * 4. Wait for the first byte of the response, within `ttfbTimeoutMs`. This byte is the code of the first chunk.
   * 5. Read each chunk and wait for the code of the next one, within `respTimeoutMs`. Any code other than success ends
   *    the response with an error message.
   * 6. The response is complete when the peer closes the stream, or after `maxChunks`, in which case the peer has
   *    `lingerMs` to close the stream. A response larger than `responseBytes` ends early, as if it were complete.
   * 7. The stream is reset on a violation, a timeout in any step or an abort, or when `responseMs` has passed since
   *    step 2. The error is converted to a `RequestError`, for which `ReqResp` may penalize the peer.
   */
  async #exchange(connection: Connection, request: OutboundRequest, signal: AbortSignal): Promise<void> {
    const { limits } = this.#parts;
    const stream = await this.#openStream(connection, request, signal);
    const reset = (): void => stream.abort(new Error("The request was aborted."));
    signal.addEventListener("abort", reset, { once: true });
    if (signal.aborted) reset();
    const overall = setTimeout(() => stream.abort(new StreamTimeout("The response took too long.")), limits.responseMs);
    const reader = new StreamReader(stream);
    try {
      await this.#sendRequest(stream, request);
      const chunks = await this.#readResponse(reader, request, negotiatedVersion(stream));
      // If the connection was closed, the response only appears to have ended.
      if (chunks < request.maxChunks && connection.status !== "open") throw new StreamReset();
      // The response is complete even if the peer has left the stream open.
      await closeStream(stream, 0);
    } catch (error) {
      stream.abort(error instanceof Error ? error : new Error(String(error)));
      throw describeFailure(error, connection);
    } finally {
      clearTimeout(overall);
      signal.removeEventListener("abort", reset);
      reader.detach();
    }
  }

  async #openStream(connection: Connection, { name, versions }: OutboundRequest, signal: AbortSignal): Promise<Stream> {
    const ids = versions.map((version) => protocolId({ name, version }));
    const timeLimit = AbortSignal.timeout(this.#parts.limits.ttfbTimeoutMs);
    try {
      return await connection.newStream(ids, { signal: AbortSignal.any([signal, timeLimit]) });
    } catch (error) {
      if (error instanceof Error && error.name === "UnsupportedProtocolError") {
        throw new RequestError("unsupported", `The peer does not support ${ids.join(" or ")}.`, { cause: error });
      }
      if (timeLimit.aborted) throw new RequestError("timeout", "Protocol negotiation timed out.", { cause: error });
      throw new RequestError("disconnected", "Could not open a stream to the peer.", { cause: error });
    }
  }

  async #sendRequest(stream: Stream, request: OutboundRequest): Promise<void> {
    const { writeMs } = this.#parts.limits;
    const body = request.body(negotiatedVersion(stream));
    if (body !== null) await writeAll(stream, encodePayload(body), writeMs);
    await endWriting(stream, writeMs);
  }

  /** Reads the response. Returns the number of chunks. */
  async #readResponse(reader: StreamReader, request: OutboundRequest, version: number): Promise<number> {
    const { limits, maxPayload } = this.#parts;
    const format = request.format(version);
    let received = 0;
    for (let chunks = 0; ; chunks++) {
      const isComplete = chunks === request.maxChunks;
      reader.setDeadline(isComplete ? limits.lingerMs : chunks === 0 ? limits.ttfbTimeoutMs : limits.respTimeoutMs);
      const code = await (isComplete ? endOrTimeout(reader) : reader.readByteOrEnd());
      if (code === undefined) return chunks;
      if (isComplete) throw new ProtocolViolation("The response has more chunks than requested.");
      reader.setDeadline(limits.respTimeoutMs);
      if (code !== ResponseCode.SUCCESS) {
        const message = await readErrorMessage(reader).catch(emptyIfMissing);
        throw new RequestError("refused", `The peer answered with code ${code}: ${message}`, { code });
      }
      const chunk = await readChunk(reader, format, maxPayload);
      request.onChunk(chunk, version);
      received += chunk.bytes.length;
      if (received > limits.responseBytes) return request.maxChunks;
    }
  }
}

/** A protocol id ends with the version and the encoding. */
function negotiatedVersion({ protocol }: Stream): number {
  return Number(protocol.split("/").at(-2));
}

/** Many peers omit the error message. A malformed one is a protocol violation. */
function emptyIfMissing(error: unknown): string {
  if (error instanceof ProtocolViolation && !(error instanceof UnexpectedEnd)) throw error;
  return "";
}

/** Tolerates a peer that leaves the stream open after its last chunk. */
async function endOrTimeout(reader: StreamReader): Promise<number | undefined> {
  try {
    return await reader.readByteOrEnd();
  } catch {
    return undefined;
  }
}

function describeFailure(error: unknown, connection: Connection): RequestError {
  if (error instanceof RequestError) return error;
  if (connection.status !== "open")
    return new RequestError("disconnected", "The connection was closed.", { cause: error });
  if (error instanceof ProtocolViolation) return new RequestError("malformed", error.message, { cause: error });
  const isLate = error instanceof StreamTimeout || (error instanceof Error && error.cause instanceof StreamTimeout);
  if (isLate) return new RequestError("timeout", "The peer timed out.", { cause: error });
  return new RequestError("refused", "The peer reset the stream.", { cause: error });
}
