import type { Connection, Stream } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import type { Host } from "../libp2p/host.ts";
import { EarlyEnd, ProtocolViolation, RequestError, StreamFailure, StreamTimeout } from "./errors.ts";
import type { ReqRespLimits } from "./limits.ts";
import { type ProtocolName, protocolId, ResponseCode } from "./protocols.ts";
import { type ChunkFormat, type ResponseChunk, readChunk, readErrorMessage } from "./response-chunk.ts";
import { givenUp, RequestQueue, RequestQuotas } from "./self-limiter.ts";
import { encodePayload } from "./ssz-snappy.ts";
import { closeStream, endWriting, StreamReader, writeAll } from "./stream-io.ts";

/** A request of which only the chunks of its response are left to be understood. */
export interface OutboundRequest {
  name: ProtocolName;
  /** In order of preference. */
  versions: readonly number[];
  /** SSZ of the request for the version that was agreed on; null where requests have no content. */
  body(version: number): Uint8Array | null;
  /** How much is asked for, as rate limits count it. */
  cost: number;
  /** More chunks are a violation. */
  maxChunks: number;
  format(version: number): ChunkFormat;
  /** Throws a `ProtocolViolation` for a chunk that does not belong there. */
  onChunk(chunk: ResponseChunk, version: number): void;
}

interface RequestClientParts {
  host: Host;
  limits: ReqRespLimits;
  /** Of the payload of a chunk, in bytes. */
  maxPayload: number;
}

/** Makes requests to peers that are connected (phase0/p2p-interface.md, Requesting side). Failures are `RequestError`s. */
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
    const given = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    const endTurn = await this.#queue.take(`${peerId}/${request.name}`, given);
    try {
      await this.#awaitQuota(peerId, request, given);
      await this.#exchange(this.#connectionTo(peerId), request, given);
    } catch (error) {
      throw given.aborted ? givenUp(given) : error;
    } finally {
      endTurn();
    }
  }

  close(): void {
    this.#closing.abort(new Error("The node stops."));
  }

  #connectionTo(peerId: string): Connection {
    const connection = this.#parts.host
      .getConnections(peerIdFromString(peerId))
      .find(({ status }) => status === "open");
    if (connection === undefined) throw new RequestError("disconnected", "The peer is not connected.");
    return connection;
  }

  async #awaitQuota(peerId: string, { name, cost }: OutboundRequest, signal: AbortSignal): Promise<void> {
    const protocols = await this.#protocolsOf(peerId);
    const delay = this.#quotas.delay(peerId, name, cost, protocols);
    if (delay > 0) await SYSTEM_TIMERS.sleep(delay, signal);
  }

  async #protocolsOf(peerId: string): Promise<string[]> {
    try {
      return (await this.#parts.host.peerStore.get(peerIdFromString(peerId))).protocols;
    } catch {
      return [];
    }
  }

  async #exchange(connection: Connection, request: OutboundRequest, signal: AbortSignal): Promise<void> {
    const { limits } = this.#parts;
    const stream = await this.#openStream(connection, request, signal);
    const reset = (): void => stream.abort(new Error("The request was given up."));
    signal.addEventListener("abort", reset, { once: true });
    if (signal.aborted) reset();
    const overall = setTimeout(() => stream.abort(new StreamTimeout("The response took too long.")), limits.responseMs);
    const reader = new StreamReader(stream);
    try {
      await this.#sendRequest(stream, request);
      const chunks = await this.#readResponse(reader, request, agreedVersion(stream));
      // The end of a connection looks like the end of a response.
      if (chunks < request.maxChunks && connection.status !== "open") throw new StreamFailure();
      // A peer that does not end its stream has still answered in full.
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
    const timeLimit = AbortSignal.timeout(this.#parts.limits.firstByteMs);
    try {
      return await connection.newStream(ids, { signal: AbortSignal.any([signal, timeLimit]) });
    } catch (error) {
      if (error instanceof Error && error.name === "UnsupportedProtocolError") {
        throw new RequestError("unsupported", `The peer does not speak ${ids.join(" or ")}.`, { cause: error });
      }
      if (timeLimit.aborted)
        throw new RequestError("timeout", "The peer took too long to agree on a protocol.", { cause: error });
      throw new RequestError("disconnected", "No stream could be opened to the peer.", { cause: error });
    }
  }

  async #sendRequest(stream: Stream, request: OutboundRequest): Promise<void> {
    const { writeMs } = this.#parts.limits;
    const body = request.body(agreedVersion(stream));
    if (body !== null) await writeAll(stream, encodePayload(body), writeMs);
    await endWriting(stream, writeMs);
  }

  /** Gives the number of chunks. */
  async #readResponse(reader: StreamReader, request: OutboundRequest, version: number): Promise<number> {
    const { limits, maxPayload } = this.#parts;
    const format = request.format(version);
    let received = 0;
    for (let chunks = 0; ; chunks++) {
      const isComplete = chunks === request.maxChunks;
      reader.allowTime(isComplete ? limits.lingerMs : chunks === 0 ? limits.firstByteMs : limits.chunkMs);
      const code = await (isComplete ? endOrTimeout(reader) : reader.readByteOrEnd());
      if (code === undefined) return chunks;
      if (isComplete) throw new ProtocolViolation("The response has more chunks than were asked for.");
      reader.allowTime(limits.chunkMs);
      if (code !== ResponseCode.SUCCESS) {
        const message = await readErrorMessage(reader).catch(orNoMessage);
        throw new RequestError("refused", `The peer answered with code ${code}: ${message}`, { code });
      }
      const chunk = await readChunk(reader, format, maxPayload);
      request.onChunk(chunk, version);
      received += chunk.bytes.length;
      if (received > limits.responseBytes) return request.maxChunks;
    }
  }
}

/** Protocol ids end in the version and the encoding. */
function agreedVersion({ protocol }: Stream): number {
  return Number(protocol.split("/").at(-2));
}

/** Many leave the message out; one that is none shows that the answer is not even a refusal. */
function orNoMessage(error: unknown): string {
  if (error instanceof ProtocolViolation && !(error instanceof EarlyEnd)) throw error;
  return "";
}

/** A peer that keeps the stream open after its last chunk does no harm. */
async function endOrTimeout(reader: StreamReader): Promise<number | undefined> {
  try {
    return await reader.readByteOrEnd();
  } catch {
    return undefined;
  }
}

function describeFailure(error: unknown, connection: Connection): RequestError {
  if (error instanceof RequestError) return error;
  if (connection.status !== "open") return new RequestError("disconnected", "The connection ended.", { cause: error });
  if (error instanceof ProtocolViolation) return new RequestError("malformed", error.message, { cause: error });
  const isLate = error instanceof StreamTimeout || (error instanceof Error && error.cause instanceof StreamTimeout);
  if (isLate) return new RequestError("timeout", "The peer took too long.", { cause: error });
  return new RequestError("refused", "The peer reset the stream.", { cause: error });
}
