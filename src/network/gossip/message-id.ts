import { createHash } from "node:crypto";
import { ForkName } from "@lodestar/params";
import type { GossipTopics } from "./topics.ts";

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
