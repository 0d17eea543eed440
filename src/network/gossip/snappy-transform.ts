import type { DataTransform } from "@libp2p/gossipsub/types";
import type { BeaconConfig } from "@lodestar/config";
import { compressSync, uncompressSync } from "snappy";
import { sizeBounds } from "./message-types.ts";
import type { GossipTopic, GossipTopics } from "./topics.ts";

/** A length in the header of raw snappy is an unsigned number of at most 32 bits in groups of seven. */
const MAX_LENGTH_BYTES = 5;

/**
 * Gossip is compressed as raw snappy (phase0/p2p-interface.md, Encodings). What comes in is measured before it is
 * decompressed: by its compressed size, and by the length that its header announces, which the decompression then
 * enforces. Whatever throws here counts against the sender as an invalid message.
 */
export function createSnappyTransform(topics: GossipTopics, config: BeaconConfig): DataTransform {
  return {
    inboundTransform(name, compressed) {
      const topic = topics.get(name);
      if (!topic) throw new Error(`There is no topic ${name}.`);
      refuseImpossibleSize(topic, compressed, config.MAX_PAYLOAD_SIZE);
      const data = uncompressSync(compressed, { asBuffer: true }) as Buffer;
      return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    },

    outboundTransform(_name, data) {
      const compressed = compressSync(data);
      return new Uint8Array(compressed.buffer, compressed.byteOffset, compressed.byteLength);
    },
  };
}

function refuseImpossibleSize({ kind, boundary }: GossipTopic, compressed: Uint8Array, maxPayloadSize: number): void {
  const { min, max } = sizeBounds(kind, boundary.fork, maxPayloadSize);
  if (compressed.length > maxCompressedLength(max)) {
    throw new Error(`A message of ${compressed.length} compressed bytes is too large for ${kind}.`);
  }
  const length = announcedLength(compressed);
  if (length === undefined || length < min || length > max) {
    throw new Error(`A message of ${kind} has between ${min} and ${max} bytes, but this one announces ${length}.`);
  }
}

/** phase0/p2p-interface.md `max_compressed_len`. */
export function maxCompressedLength(length: number): number {
  return 32 + length + Math.floor(length / 6);
}

/** The length of the decompressed data; undefined when there is no such header. */
export function announcedLength(compressed: Uint8Array): number | undefined {
  let length = 0;
  for (let i = 0; i < MAX_LENGTH_BYTES; i++) {
    const byte = compressed[i];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return length;
  }
  return undefined;
}
