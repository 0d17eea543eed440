import type { BeaconConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import { toRootHex } from "@lodestar/utils";
import type { Clock } from "../../chain/clock/clock.ts";
import { ErrorResponse } from "./errors.ts";
import type { BlockChunk, BlockRange, RequestHandlers } from "./interface.ts";
import { maxRequestBlobSidecars, maxRequestBlocks } from "./limits.ts";
import {
  blobIdentifiersCodec,
  blobRangeRequestCodec,
  type Codec,
  columnIdentifiersCodec,
  columnRangeRequestCodec,
  headRequestCodec,
  metadataCodec,
  payloadRangeRequestCodec,
  rangeRequestCodec,
  rootsRequestCodec,
  statusCodec,
  uint64Codec,
} from "./message-codecs.ts";
import { type Protocol, ResponseCode } from "./protocols.ts";
import type { ResponseChunk } from "./response-chunk.ts";
import type { SizeBounds } from "./ssz-snappy.ts";

const NO_DIGEST = new Uint8Array(0);
const EMPTY: AsyncIterable<ResponseChunk> = { async *[Symbol.asyncIterator]() {} };

export interface ProtocolResponse {
  chunks: AsyncIterable<ResponseChunk> | Iterable<ResponseChunk>;
  /** Rate limits count blocks or sidecar bytes. */
  content: "message" | "blocks" | "sidecars";
  /** Runs after the response has been sent or has failed, since it may disconnect the peer. */
  afterwards?: () => void;
}

/** Decodes and answers requests for a single protocol. */
export interface ProtocolHandler {
  /** Null if requests have no body. */
  bounds: SizeBounds | null;
  /** Throws an `ErrorResponse` or a `ProtocolViolation`. */
  handle(peerId: string, body: Uint8Array): ProtocolResponse;
}

export interface ProtocolHandlerParts {
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch">;
  handlers: RequestHandlers;
}

/** Returns the handler for a protocol. */
export function protocolHandler(protocol: Protocol, parts: ProtocolHandlerParts): ProtocolHandler {
  const { handlers } = parts;
  const { version } = protocol;
  switch (protocol.name) {
    case "status": {
      const codec = statusCodec(version);
      return decoding(codec, (peerId, status) => ({
        ...message(codec, handlers.status()),
        afterwards: () => handlers.onStatus(peerId, status),
      }));
    }
    case "goodbye":
      return decoding(uint64Codec(), (peerId, reason) => ({
        ...message(uint64Codec(), reason),
        afterwards: () => handlers.onGoodbye(peerId, reason),
      }));
    case "ping":
      return decoding(uint64Codec(), (peerId, sequence) => ({
        ...message(uint64Codec(), handlers.metadata().seqNumber),
        afterwards: () => handlers.onPing(peerId, sequence),
      }));
    case "metadata":
      return { bounds: null, handle: () => message(metadataCodec(version), handlers.metadata()) };
    case "beacon_blocks_by_range":
      return decoding(rangeRequestCodec(), (_, { startSlot, count, step }) => {
        if (step !== 1) throw new ErrorResponse(ResponseCode.INVALID_REQUEST, "step must be 1.");
        const range = boundedRange(parts, { startSlot, count });
        return blocks(parts, version, range ? handlers.blocksByRange(range) : EMPTY);
      });
    case "beacon_blocks_by_root": {
      const codec = rootsRequestCodec(parts.config.MAX_REQUEST_BLOCKS);
      return decoding(codec, (_, roots) => {
        const maxBlocks = maxRequestBlocks(parts.config, parts.clock.currentEpoch);
        if (roots.length > maxBlocks)
          throw new ErrorResponse(ResponseCode.INVALID_REQUEST, `At most ${maxBlocks} blocks can be requested.`);
        return blocks(parts, version, handlers.blocksByRoot(roots));
      });
    }
    case "beacon_blocks_by_head":
      return decoding(headRequestCodec(), (_, { beaconRoot, count }) => {
        assertPositive(count);
        const ancestry = { root: toRootHex(beaconRoot), count: Math.min(count, parts.config.MAX_REQUEST_BLOCKS_DENEB) };
        return { chunks: handlers.blocksByHead(ancestry), content: "blocks" };
      });
    case "blob_sidecars_by_range":
      return decoding(blobRangeRequestCodec(), (_, request) => {
        const range = boundedRange(parts, request);
        return sidecars(range ? handlers.blobSidecarsByRange(range) : EMPTY);
      });
    case "blob_sidecars_by_root": {
      const codec = blobIdentifiersCodec(parts.config.MAX_REQUEST_BLOB_SIDECARS_ELECTRA);
      return decoding(codec, (_, identifiers) => {
        const maxSidecars = maxRequestBlobSidecars(parts.config, parts.clock.currentEpoch);
        if (identifiers.length > maxSidecars)
          throw new ErrorResponse(
            ResponseCode.INVALID_REQUEST,
            `At most ${maxSidecars} blob sidecars can be requested.`,
          );
        const requested = identifiers.map(({ blockRoot, index }) => ({ root: toRootHex(blockRoot), indices: [index] }));
        return sidecars(handlers.blobSidecarsByRoot(requested));
      });
    }
    case "data_column_sidecars_by_range":
      return decoding(columnRangeRequestCodec(), (_, { columns, ...request }) => {
        const range = boundedRange(parts, request);
        return sidecars(range ? handlers.columnSidecarsByRange(range, columns) : EMPTY);
      });
    case "data_column_sidecars_by_root":
      return decoding(columnIdentifiersCodec(parts.config.MAX_REQUEST_BLOCKS_DENEB), (_, identifiers) => {
        const requested = identifiers.map(({ blockRoot, columns }) => ({
          root: toRootHex(blockRoot),
          indices: columns,
        }));
        return sidecars(handlers.columnSidecarsByRoot(requested));
      });
    case "execution_payload_envelopes_by_range":
      return decoding(payloadRangeRequestCodec(), (_, request) => {
        const range = boundedRange(parts, request);
        if (!range) return payloads(EMPTY);
        const count = Math.min(range.count, parts.config.MAX_REQUEST_PAYLOADS);
        return payloads(handlers.payloadsByRange({ ...range, count }));
      });
    case "execution_payload_envelopes_by_root":
      return decoding(rootsRequestCodec(parts.config.MAX_REQUEST_PAYLOADS), (_, roots) =>
        payloads(handlers.payloadsByRoot(roots)),
      );
  }
}

/** Caps the count. Returns undefined if the start slot is above 2^53 - 1, which no chain reaches. */
function boundedRange(
  { config, clock }: ProtocolHandlerParts,
  { startSlot, count }: BlockRange,
): BlockRange | undefined {
  assertPositive(count);
  if (!Number.isSafeInteger(startSlot)) return undefined;
  return { startSlot, count: Math.min(count, maxRequestBlocks(config, clock.currentEpoch)) };
}

function assertPositive(count: number): void {
  if (count < 1) throw new ErrorResponse(ResponseCode.INVALID_REQUEST, "count must be at least 1.");
}

function decoding<T>(codec: Codec<T>, handle: (peerId: string, request: T) => ProtocolResponse): ProtocolHandler {
  return { bounds: codec, handle: (peerId, body) => handle(peerId, codec.decode(body)) };
}

function message<T>(codec: Codec<T>, value: T): ProtocolResponse {
  return { chunks: [{ forkDigest: NO_DIGEST, bytes: codec.encode(value) }], content: "message" };
}

function sidecars(chunks: AsyncIterable<ResponseChunk>): ProtocolResponse {
  return { chunks, content: "sidecars" };
}

/** Limited by count, as the blocks that had the payloads before. */
function payloads(chunks: AsyncIterable<ResponseChunk>): ProtocolResponse {
  return { chunks, content: "blocks" };
}

function blocks(
  { config }: ProtocolHandlerParts,
  version: number,
  chunks: AsyncIterable<BlockChunk>,
): ProtocolResponse {
  return { chunks: version === 1 ? phase0Blocks(config, chunks) : chunks, content: "blocks" };
}

/** Version 1 cannot carry blocks of later forks (altair/p2p-interface.md, Transitioning from v1 to v2). */
async function* phase0Blocks(config: BeaconConfig, chunks: AsyncIterable<BlockChunk>): AsyncGenerator<ResponseChunk> {
  for await (const { bytes, forkDigest } of chunks) {
    if (config.forkDigest2ForkBoundary(forkDigest).fork !== ForkName.phase0) {
      throw new ErrorResponse(ResponseCode.INVALID_REQUEST, "Blocks after phase0 require version 2.");
    }
    yield { bytes, forkDigest: NO_DIGEST };
  }
}
