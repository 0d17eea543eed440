import type { BeaconConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import type { Clock } from "../../chain/clock/clock.ts";
import type { BeaconAnswers, BlockChunk } from "./beacon-answers.ts";
import type { SizeBounds } from "./payload.ts";
import {
  type Codec,
  metadataCodec,
  rangeRequestCodec,
  rootsRequestCodec,
  statusCodec,
  uint64Codec,
} from "./peer-messages.ts";
import type { Protocol } from "./protocols.ts";
import { Refusal } from "./refusal.ts";
import { maxRequestBlocks } from "./request-sizes.ts";
import { type ResponseChunk, ResponseCode } from "./response-chunk.ts";

const NO_DIGEST = new Uint8Array(0);
const NO_BLOCKS: AsyncIterable<BlockChunk> = { async *[Symbol.asyncIterator]() {} };

/** The answer to one request. */
export interface Answer {
  chunks: AsyncIterable<ResponseChunk> | Iterable<ResponseChunk>;
  /** Whether the chunks are blocks, which rate limits count. */
  areBlocks: boolean;
  /** What follows from the request itself; for when the answer is written or failed, since the peer may be left because of it. */
  afterwards?: () => void;
}

/** What to read of requests with a protocol, and what to answer. */
export interface RequestKind {
  /** Null when requests have no content. */
  bounds: SizeBounds | null;
  /** Throws a `Refusal` or a `ProtocolViolation`. */
  answer(peerId: string, body: Uint8Array): Answer;
}

export interface RequestAnswersParts {
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch">;
  answers: BeaconAnswers;
}

export function requestKind(protocol: Protocol, parts: RequestAnswersParts): RequestKind {
  const { answers } = parts;
  const { version } = protocol;
  switch (protocol.name) {
    case "status": {
      const codec = statusCodec(version);
      return kind(codec, (peerId, status) => ({
        ...message(codec, answers.status()),
        afterwards: () => answers.onStatus(peerId, status),
      }));
    }
    case "goodbye":
      return kind(uint64Codec(), (peerId, reason) => ({
        ...message(uint64Codec(), reason),
        afterwards: () => answers.onGoodbye(peerId, reason),
      }));
    case "ping":
      return kind(uint64Codec(), (peerId, sequence) => ({
        ...message(uint64Codec(), answers.metadata().seqNumber),
        afterwards: () => answers.onPing(peerId, sequence),
      }));
    case "metadata":
      return { bounds: null, answer: () => message(metadataCodec(version), answers.metadata()) };
    case "beacon_blocks_by_range":
      return kind(rangeRequestCodec(), (_, { startSlot, count, step }) => {
        if (step !== 1) throw new Refusal(ResponseCode.INVALID_REQUEST, "The step must be 1.");
        if (count < 1) throw new Refusal(ResponseCode.INVALID_REQUEST, "The count must be at least 1.");
        const range = { startSlot, count: Math.min(count, maxRequestBlocks(parts.config, parts.clock.currentEpoch)) };
        // Slots that are no exact numbers here are beyond the end of all chains.
        return blocks(parts, version, Number.isSafeInteger(startSlot) ? answers.blocksByRange(range) : NO_BLOCKS);
      });
    case "beacon_blocks_by_root": {
      const codec = rootsRequestCodec(parts.config.MAX_REQUEST_BLOCKS);
      return kind(codec, (_, roots) => {
        const most = maxRequestBlocks(parts.config, parts.clock.currentEpoch);
        if (roots.length > most)
          throw new Refusal(ResponseCode.INVALID_REQUEST, `At most ${most} blocks may be asked for.`);
        return blocks(parts, version, answers.blocksByRoot(roots));
      });
    }
  }
}

function kind<T>(codec: Codec<T>, answer: (peerId: string, request: T) => Answer): RequestKind {
  return { bounds: codec, answer: (peerId, body) => answer(peerId, codec.decode(body)) };
}

function message<T>(codec: Codec<T>, value: T): Answer {
  return { chunks: [{ forkDigest: NO_DIGEST, bytes: codec.encode(value) }], areBlocks: false };
}

function blocks({ config }: RequestAnswersParts, version: number, chunks: AsyncIterable<BlockChunk>): Answer {
  return { chunks: version === 1 ? phase0Blocks(config, chunks) : chunks, areBlocks: true };
}

/** Version 1 has no means to tell of which fork a block is (altair/p2p-interface.md, Transitioning from v1 to v2). */
async function* phase0Blocks(config: BeaconConfig, chunks: AsyncIterable<BlockChunk>): AsyncGenerator<ResponseChunk> {
  for await (const { bytes, forkDigest } of chunks) {
    if (config.forkDigest2ForkBoundary(forkDigest).fork !== ForkName.phase0) {
      throw new Refusal(ResponseCode.INVALID_REQUEST, "Blocks after phase0 are served with version 2 only.");
    }
    yield { bytes, forkDigest: NO_DIGEST };
  }
}
