import type { DataTransform } from "@libp2p/gossipsub/types";
import type { BeaconConfig } from "@lodestar/config";
import { compressSync, uncompressSync } from "snappy";
import { announcedLength, maxCompressedLength } from "../snappy-length.ts";
import { sizeBounds } from "./message-types.ts";
import type { GossipTopic, GossipTopics } from "./topics.ts";

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
