import type { GossipSub } from "@libp2p/gossipsub";
import type { RPC } from "@libp2p/gossipsub/message";
import type { PeerId } from "@libp2p/interface";
import type { PeerReporter } from "../peers/peer-scores.ts";
import type { MessageRateLimiter } from "./message-rate-limiter.ts";

/** gossipsub internals on the inbound path. */
interface InboundSide {
  readonly peers: ReadonlyMap<string, unknown>;
  readonly subscriptions: ReadonlySet<string>;
  readonly streamsInbound: ReadonlyMap<string, { source: unknown; rawStream: { abort(error: Error): void } }>;
  readonly score: {
    addPenalty(peerId: string, count: number, label: string): void;
    rejectInvalidMessage(peerId: string, topic: string): void;
  };
  log(error: unknown): void;
  decodeRpc(bytes: Uint8Array): RPC;
  handleReceivedRpc(from: PeerId, rpc: RPC): Promise<void>;
  handlePeerReadStreamError(error: unknown, from: PeerId): void;
  pipePeerReadStream(from: PeerId, source: AsyncIterable<{ subarray(): Uint8Array }>): Promise<void>;
}

interface GuardParts {
  budget: MessageRateLimiter;
  reporter?: PeerReporter | undefined;
  /** Called for each message rejected here, with the topic of the message. Only joined topics are reported. */
  onRejected(topic: string): void;
}

/**
 * Replaces gossipsub's inbound read loop to close four gaps. It penalizes malformed and oversized RPCs, limits the
 * message rate, enforces StrictNoSign (the library accepts messages with a `from` field), and drops messages on topics
 * that are not joined, which the library would keep in its cache.
 */
export function guardInbound(pubsub: GossipSub, { budget, reporter, onRejected }: GuardParts): GossipSub {
  const inbound = pubsub as unknown as InboundSide;
  inbound.pipePeerReadStream = async (from, source) => {
    const peerId = from.toString();
    try {
      for await (const data of source) {
        const rpc = decode(inbound, data, peerId);
        if (rpc === undefined) continue;
        rpc.messages = acceptedMessages(inbound, rpc, peerId, { budget, onRejected });
        await inbound.handleReceivedRpc(from, rpc).catch((error) => inbound.log(error));
      }
    } catch (error) {
      if (isViolation(error)) {
        // gossipsub forgets the peer but leaves the stream open.
        inbound.streamsInbound.get(peerId)?.rawStream.abort(error);
        reporter?.penalize(peerId, "severe", "gossip: oversized RPC");
      }
      // If the stream has been replaced by a stream on another connection, its error says nothing about the peer.
      if (inbound.streamsInbound.get(peerId)?.source === source) inbound.handlePeerReadStreamError(error, from);
    }
  };
  return pubsub;
}

/**
 * Errors for an invalid or excessive length prefix. Unlike the end of a stream, these errors are protocol violations.
 */
const LENGTH_ERRORS: ReadonlySet<string> = new Set([
  "InvalidMessageLengthError",
  "InvalidDataLengthError",
  "InvalidDataLengthLengthError",
]);

const BYTES_PER_UNIT = 64 << 10;

function isViolation(error: unknown): error is Error {
  return error instanceof Error && LENGTH_ERRORS.has(error.name);
}

function decode(inbound: InboundSide, data: { subarray(): Uint8Array }, peerId: string): RPC | undefined {
  try {
    return inbound.decodeRpc(data.subarray());
  } catch {
    inbound.score.addPenalty(peerId, 1, "malformed_rpc");
    return undefined;
  }
}

function acceptedMessages(
  inbound: InboundSide,
  rpc: RPC,
  peerId: string,
  { budget, onRejected }: Pick<GuardParts, "budget" | "onRejected">,
): RPC.Message[] {
  const { subscriptions: joined, peers } = inbound;
  const count = rpc.messages.reduce((sum, { data }) => sum + messageUnits(data?.length ?? 0), 0);
  const outcome = budget.take(peerId, count, { joined, peers: peers.size });
  // Exceeding the total limit is not any single peer's fault.
  if (outcome === "peer limit") inbound.score.addPenalty(peerId, 1, "too_many_messages");
  if (outcome !== "ok") return [];
  return rpc.messages.filter((message) => {
    // The peer may not know yet that this node has left the topic.
    if (!joined.has(message.topic)) return false;
    if (!isSigned(message)) return true;
    inbound.score.rejectInvalidMessage(peerId, message.topic);
    onRejected(message.topic);
    return false;
  });
}

/** Returns the number of units of a message, one per 64 KiB. A column is a single unit even with many blobs. */
function messageUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_PER_UNIT));
}

function isSigned({ from, seqno, signature, key }: RPC.Message): boolean {
  return [from, seqno, signature, key].some((field) => field !== undefined);
}
