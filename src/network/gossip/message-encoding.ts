import { createHash } from "node:crypto";
import type { DataTransform } from "@libp2p/gossipsub/types";
import type { BeaconConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import { compressSync, uncompressSync } from "snappy";
import { announcedLength, maxCompressedLength } from "../snappy-length.ts";
import { sizeBounds } from "./message-types.ts";
import type { GossipTopic, GossipTopics } from "./topics.ts";

/** MESSAGE_DOMAIN_VALID_SNAPPY. Messages that cannot be decompressed are refused before anybody asks for their id. */
const VALID_SNAPPY = Uint8Array.of(1, 0, 0, 0);
const ID_BYTES = 20;

/** The ids of messages over decompressed data: phase0 and altair/p2p-interface.md, Topics and messages. */
export function createMessageId(topics: GossipTopics): (message: { topic: string; data: Uint8Array }) => Uint8Array {
  return ({ topic, data }) => {
    const hash = createHash("sha256").update(VALID_SNAPPY);
    if (topics.get(topic)?.boundary.fork !== ForkName.phase0) hash.update(lengthOf(topic)).update(topic, "utf8");
    return Uint8Array.from(hash.update(data).digest().subarray(0, ID_BYTES));
  };
}

function lengthOf(topic: string): Uint8Array {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(topic, "utf8")));
  return length;
}

/**
 * Tells messages apart before they are decompressed, so that the copies of a message that come from other peers cost one
 * hash and no more. It never leaves this node.
 */
export function quickId({ topic, data }: { topic: string; data?: Uint8Array }): string {
  const hash = createHash("sha256").update(topic, "utf8").update("\0");
  return hash.update(data ?? new Uint8Array()).digest("base64");
}

/**
 * Gossip is compressed as raw snappy (phase0/p2p-interface.md, Encodings). What comes in is measured before it is
 * decompressed: by its compressed size, and by the length that its header announces, which the decompression then
 * enforces. Whatever throws here counts against the sender as an invalid message, and is told to `onRefused`.
 */
export function createSnappyTransform(
  topics: GossipTopics,
  config: BeaconConfig,
  onRefused: (topic: string) => void = () => {},
): DataTransform {
  return {
    inboundTransform(name, compressed) {
      const topic = topics.get(name);
      if (!topic) throw new Error(`There is no topic ${name}.`);
      try {
        refuseImpossibleSize(topic, compressed, config);
        const data = uncompressSync(compressed, { asBuffer: true }) as Buffer;
        return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      } catch (error) {
        onRefused(name);
        throw error;
      }
    },

    outboundTransform(_name, data) {
      const compressed = compressSync(data);
      return new Uint8Array(compressed.buffer, compressed.byteOffset, compressed.byteLength);
    },
  };
}

function refuseImpossibleSize(topic: GossipTopic, compressed: Uint8Array, config: BeaconConfig): void {
  const { kind } = topic;
  const { min, max } = sizeBounds(topic, config);
  if (compressed.length > maxCompressedLength(max)) {
    throw new Error(`A message of ${compressed.length} compressed bytes is too large for ${kind}.`);
  }
  const length = announcedLength(compressed);
  if (length === undefined || length < min || length > max) {
    throw new Error(`A message of ${kind} has between ${min} and ${max} bytes, but this one announces ${length}.`);
  }
}
