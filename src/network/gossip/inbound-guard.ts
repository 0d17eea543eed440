import type { GossipSub } from "@libp2p/gossipsub";
import type { RPC } from "@libp2p/gossipsub/message";
import type { PeerId } from "@libp2p/interface";
import type { PeerReporter } from "../peers/peer-scores.ts";
import type { MessageBudget } from "./message-budget.ts";

/** The parts of gossipsub that stand between a peer's stream and the messages on it. */
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
  budget: MessageBudget;
  reporter?: PeerReporter | undefined;
  /** Told the topic of each message that is refused here, of those that this node has joined. */
  onRefused(topic: string): void;
}

/**
 * Reads what peers send in place of gossipsub's own loop, which lets four things pass: envelopes that cannot be decoded, or are
 * too large, go unpunished; there is no limit to the number of messages; messages that name a sender (`from`) are taken, though a network
 * without signatures must refuse them (StrictNoSign); and messages of topics that this node has not joined are remembered,
 * though nobody will ever reporter them.
 */
export function guardInbound(pubsub: GossipSub, { budget, reporter, onRefused }: GuardParts): GossipSub {
  const inbound = pubsub as unknown as InboundSide;
  inbound.pipePeerReadStream = async (from, source) => {
    const peerId = from.toString();
    try {
      for await (const data of source) {
        const rpc = decode(inbound, data, peerId);
        if (rpc === undefined) continue;
        rpc.messages = welcomeMessages(inbound, rpc, peerId, { budget, onRefused });
        await inbound.handleReceivedRpc(from, rpc).catch((error) => inbound.log(error));
      }
    } catch (error) {
      if (isViolation(error)) {
        // Gossip itself forgets the peer and what it did, and leaves the stream to fill up.
        inbound.streamsInbound.get(peerId)?.rawStream.abort(error);
        reporter?.penalize(peerId, "severe", "gossip: an envelope that is too large");
      }
      // A stream that another one has replaced, over another connection, says nothing about the peer.
      if (inbound.streamsInbound.get(peerId)?.source === source) inbound.handlePeerReadStreamError(error, from);
    }
  };
  return pubsub;
}

/** Lengths that are none, or beyond what is read; unlike a stream that just ends, they are no accident. */
const LENGTH_ERRORS: ReadonlySet<string> = new Set([
  "InvalidMessageLengthError",
  "InvalidDataLengthError",
  "InvalidDataLengthLengthError",
]);

const BYTES_COUNTED_ONCE = 64 << 10;

function isViolation(error: unknown): error is Error {
  return error instanceof Error && LENGTH_ERRORS.has(error.name);
}

function decode(inbound: InboundSide, data: { subarray(): Uint8Array }, peerId: string): RPC | undefined {
  try {
    return inbound.decodeRpc(data.subarray());
  } catch {
    inbound.score.addPenalty(peerId, 1, "malformed_envelope");
    return undefined;
  }
}

function welcomeMessages(
  inbound: InboundSide,
  rpc: RPC,
  peerId: string,
  { budget, onRefused }: Pick<GuardParts, "budget" | "onRefused">,
): RPC.Message[] {
  const { subscriptions: joined, peers } = inbound;
  const count = rpc.messages.reduce((sum, { data }) => sum + timesCounted(data?.length ?? 0), 0);
  const outcome = budget.take(peerId, count, { joined, peers: peers.size });
  // That all together send too much is not the fault of this one.
  if (outcome === "beyond one") inbound.score.addPenalty(peerId, 1, "too_many_messages");
  if (outcome !== "taken") return [];
  return rpc.messages.filter((message) => {
    // A peer may not yet know that we left a topic.
    if (!joined.has(message.topic)) return false;
    if (!isSigned(message)) return true;
    inbound.score.rejectInvalidMessage(peerId, message.topic);
    onRefused(message.topic);
    return false;
  });
}

/** As many times as it is larger than most are; a column of many blobs still counts once. */
function timesCounted(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_COUNTED_ONCE));
}

function isSigned({ from, seqno, signature, key }: RPC.Message): boolean {
  return [from, seqno, signature, key].some((field) => field !== undefined);
}
