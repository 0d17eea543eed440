import type { BeaconConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import type { Clock } from "../../chain/clock/clock.ts";
import { ErrorResponse } from "./errors.ts";
import type { BlockChunk, RequestHandlers } from "./interface.ts";
import { maxRequestBlocks } from "./limits.ts";
import {
  type Codec,
  metadataCodec,
  rangeRequestCodec,
  rootsRequestCodec,
  statusCodec,
  uint64Codec,
} from "./message-codecs.ts";
import { type Protocol, ResponseCode } from "./protocols.ts";
import type { ResponseChunk } from "./response-chunk.ts";
import type { SizeBounds } from "./ssz-snappy.ts";

const NO_DIGEST = new Uint8Array(0);
const NO_BLOCKS: AsyncIterable<BlockChunk> = { async *[Symbol.asyncIterator]() {} };

/** The response to one request. */
export interface ProtocolResponse {
  chunks: AsyncIterable<ResponseChunk> | Iterable<ResponseChunk>;
  /** Whether the chunks are blocks, which rate limits count. */
  areBlocks: boolean;
  /** What follows from the request itself; for when the response is written or failed, since the peer may be left because of it. */
  afterwards?: () => void;
}

/** What to read of requests with a protocol, and how to respond. */
export interface ProtocolHandler {
  /** Null when requests have no content. */
  bounds: SizeBounds | null;
  /** Throws a `ErrorResponse` or a `ProtocolViolation`. */
  handle(peerId: string, body: Uint8Array): ProtocolResponse;
}

export interface ProtocolHandlerParts {
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch">;
  handlers: RequestHandlers;
}

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
        if (step !== 1) throw new ErrorResponse(ResponseCode.INVALID_REQUEST, "The step must be 1.");
        if (count < 1) throw new ErrorResponse(ResponseCode.INVALID_REQUEST, "The count must be at least 1.");
        const range = { startSlot, count: Math.min(count, maxRequestBlocks(parts.config, parts.clock.currentEpoch)) };
        // Slots that are no exact numbers here are beyond the end of all chains.
        return blocks(parts, version, Number.isSafeInteger(startSlot) ? handlers.blocksByRange(range) : NO_BLOCKS);
      });
    case "beacon_blocks_by_root": {
      const codec = rootsRequestCodec(parts.config.MAX_REQUEST_BLOCKS);
      return decoding(codec, (_, roots) => {
        const most = maxRequestBlocks(parts.config, parts.clock.currentEpoch);
        if (roots.length > most)
          throw new ErrorResponse(ResponseCode.INVALID_REQUEST, `At most ${most} blocks may be asked for.`);
        return blocks(parts, version, handlers.blocksByRoot(roots));
      });
    }
  }
}

function decoding<T>(codec: Codec<T>, handle: (peerId: string, request: T) => ProtocolResponse): ProtocolHandler {
  return { bounds: codec, handle: (peerId, body) => handle(peerId, codec.decode(body)) };
}

function message<T>(codec: Codec<T>, value: T): ProtocolResponse {
  return { chunks: [{ forkDigest: NO_DIGEST, bytes: codec.encode(value) }], areBlocks: false };
}

function blocks(
  { config }: ProtocolHandlerParts,
  version: number,
  chunks: AsyncIterable<BlockChunk>,
): ProtocolResponse {
  return { chunks: version === 1 ? phase0Blocks(config, chunks) : chunks, areBlocks: true };
}

/** Version 1 has no means to tell of which fork a block is (altair/p2p-interface.md, Transitioning from v1 to v2). */
async function* phase0Blocks(config: BeaconConfig, chunks: AsyncIterable<BlockChunk>): AsyncGenerator<ResponseChunk> {
  for await (const { bytes, forkDigest } of chunks) {
    if (config.forkDigest2ForkBoundary(forkDigest).fork !== ForkName.phase0) {
      throw new ErrorResponse(ResponseCode.INVALID_REQUEST, "Blocks after phase0 are served with version 2 only.");
    }
    yield { bytes, forkDigest: NO_DIGEST };
  }
}
