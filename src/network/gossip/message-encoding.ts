import { createHash } from "node:crypto";
import type { DataTransform } from "@libp2p/gossipsub/types";
import type { BeaconConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import { compressSync, uncompressSync } from "snappy";
import { maxCompressedLength, uncompressedLength } from "../snappy-length.ts";
import { sizeBounds } from "./message-types.ts";
import type { GossipTopic, GossipTopics } from "./topics.ts";

/** MESSAGE_DOMAIN_VALID_SNAPPY. Messages that fail to decompress are rejected before their id is computed. */
const VALID_SNAPPY = Uint8Array.of(1, 0, 0, 0);
const ID_BYTES = 20;

/** Computes message ids from the decompressed data (phase0 and altair/p2p-interface.md, Topics and messages). */
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

/** Returns the local id of a compressed message. A duplicate from another peer costs one hash and no decompression. */
export function fastMessageId({ topic, data }: { topic: string; data?: Uint8Array }): string {
  const hash = createHash("sha256").update(topic, "utf8").update("\0");
  return hash.update(data ?? new Uint8Array()).digest("base64");
}

/**
 * Compresses and decompresses gossip with raw snappy (phase0/p2p-interface.md, Encodings). Before an inbound message is
 * decompressed, its compressed size and the uncompressed length in its header are checked. gossipsub treats an
 * exception as an invalid message from the sender. The exception is also reported to `onRejected`.
 */
export function createSnappyTransform(
  topics: GossipTopics,
  config: BeaconConfig,
  onRejected: (topic: string) => void = () => {},
): DataTransform {
  return {
    inboundTransform(name, compressed) {
      const topic = topics.get(name);
      if (!topic) throw new Error(`Unknown gossip topic ${name}.`);
      try {
        assertValidSize(topic, compressed, config);
        const data = uncompressSync(compressed, { asBuffer: true }) as Buffer;
        return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      } catch (error) {
        onRejected(name);
        throw error;
      }
    },

    outboundTransform(_name, data) {
      const compressed = compressSync(data);
      return new Uint8Array(compressed.buffer, compressed.byteOffset, compressed.byteLength);
    },
  };
}

function assertValidSize(topic: GossipTopic, compressed: Uint8Array, config: BeaconConfig): void {
  const { kind } = topic;
  const { min, max } = sizeBounds(topic, config);
  if (compressed.length > maxCompressedLength(max)) {
    throw new Error(`The message is too large for ${kind}: ${compressed.length} compressed bytes.`);
  }
  const length = uncompressedLength(compressed);
  if (length === undefined || length < min || length > max) {
    throw new Error(`Invalid length of a ${kind} message: ${length} bytes. The valid range is ${min} to ${max}.`);
  }
}
