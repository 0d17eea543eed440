import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { BlockRejection, isHeld, isNodeStopping } from "../../chain/import/block-rejection.ts";
import { type Outcome, outcomeOf } from "../../chain/validation/outcome.ts";
import { type ValidatedEnvelope, validateGossipEnvelope } from "../../chain/validation/payloads/envelope.ts";
import type { Logger } from "../../log/logger.ts";
import type { PeerReporter } from "../peers/peer-scores.ts";
import type { UnknownBlocks } from "./block-handler.ts";
import type { ReceivedMessage } from "./message-types.ts";
import { type ReprocessLimits, ReprocessQueue } from "./reprocess-queue.ts";

type EnvelopeMessage = ReceivedMessage<"execution_payload">;

interface PayloadHandlerParts {
  chain: Pick<BeaconChain, "validation" | "importPayload" | "untilImportEnds" | "isImporting"> & {
    clock: Pick<BeaconChain["clock"], "nowSeconds" | "currentSlot" | "onSlot">;
    events: Pick<BeaconChain["events"], "on">;
    forkChoice: Pick<BeaconChain["forkChoice"], "has">;
  };
  unknownBlocks: Pick<UnknownBlocks, "onUnknownBlock">;
  reporter: PeerReporter;
  logger: Logger;
}

/** An envelope with its arrival in chain time, which counts even if it has to wait for its block. */
interface Arrival {
  message: EnvelopeMessage;
  arrivedAt: number;
}

interface PayloadLimits {
  /** Limits for envelopes that are being verified. */
  maxCount: number;
  maxBytes: number;
  /** Limits for envelopes waiting for their block, whose signatures have not been verified. */
  waiting: ReprocessLimits & { maxBytes: number };
}

const LIMITS: PayloadLimits = {
  maxCount: 32,
  maxBytes: 64 << 20,
  waiting: { maxRoots: 16, maxItems: 32, maxRootsPerPeer: 4, maxItemsPerPeer: 4, maxBytes: 64 << 20 },
};

/**
 * Handles execution payload envelopes from gossip. An envelope is forwarded once it passes gossip validation, and then
 * imported. An envelope that arrives before its block waits for it.
 */
export class PayloadHandler {
  readonly #parts: PayloadHandlerParts;
  readonly #limits: PayloadLimits;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #waiting: ReprocessQueue<Arrival>;
  #bytesInFlight = 0;
  #bytesWaiting = 0;
  #unsubscribes: (() => void)[] = [];
  #isClosed = false;

  constructor(parts: PayloadHandlerParts, limits = LIMITS) {
    this.#parts = parts;
    this.#limits = limits;
    this.#waiting = new ReprocessQueue(limits.waiting);
  }

  start(): void {
    const { events, clock } = this.#parts.chain;
    this.#unsubscribes = [
      events.on("block", ({ root }) => this.#onBlock(root)),
      clock.onSlot((slot) => this.#onSlot(slot)),
    ];
  }

  /** Waits for envelopes that are still being processed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
    this.#ignore(this.#waiting.clear());
    await Promise.all(this.#inFlight);
  }

  handle(message: EnvelopeMessage): void {
    this.#run({ message, arrivedAt: this.#parts.chain.clock.nowSeconds() });
  }

  #run(arrival: Arrival): void {
    const { message } = arrival;
    const { maxCount, maxBytes } = this.#limits;
    if (this.#isClosed || this.#inFlight.size >= maxCount || this.#bytesInFlight + message.bytes > maxBytes) {
      message.report("ignore");
      return;
    }
    this.#bytesInFlight += message.bytes;
    const run = this.#process(arrival)
      .catch((error) => {
        this.#parts.logger.error("Could not handle payload", { peer: message.peerId, error });
        message.report("ignore");
      })
      .finally(() => {
        this.#inFlight.delete(run);
        this.#bytesInFlight -= message.bytes;
      });
    this.#inFlight.add(run);
  }

  async #process(arrival: Arrival): Promise<void> {
    const { chain } = this.#parts;
    const { message, arrivedAt } = arrival;
    // Builders publish the payload right after the block, so they may arrive together.
    await chain.untilImportEnds(rootOf(message));
    const outcome = await outcomeOf(() => validateGossipEnvelope(chain.validation, message.object));
    if (outcome.ok) {
      message.report("accept");
      await this.#import(message, outcome.value, arrivedAt);
    } else this.#refuse(arrival, outcome);
  }

  #refuse(arrival: Arrival, { refusal }: Extract<Outcome<unknown>, { ok: false }>): void {
    const { message } = arrival;
    const { action, reason, message: detail } = refusal;
    if (action === "reject") this.#warn(message, reason, detail);
    if (reason === "unknown-block" && this.#hold(arrival)) return;
    message.report(action);
  }

  async #import(message: EnvelopeMessage, envelope: ValidatedEnvelope, arrivedAt: number): Promise<void> {
    const { chain, reporter, logger } = this.#parts;
    const { peerId } = message;
    try {
      // A payload that lacks data stays pending.
      await chain.importPayload(envelope, { arrivedAt, waitsForData: false });
    } catch (error) {
      if (!(error instanceof BlockRejection)) {
        logger.error("Could not import payload", { root: envelope.root, peer: peerId, error });
        return;
      }
      if (isHeld(error) || isNodeStopping(error)) return;
      this.#warn(message, error.reason, error.message);
      // Only moderate: peers forward envelopes before importing them, as the protocol allows.
      if (error.reason === "invalid-envelope")
        reporter.penalize(peerId, "moderate", `invalid payload: ${error.reason}`);
    }
  }

  #warn(message: EnvelopeMessage, reason: string, detail: string): void {
    const { object, peerId } = message;
    const { slotNumber: slot } = object.message.payload;
    const root = rootOf(message);
    this.#parts.logger.warn("Rejected payload from peer", { slot, root, peer: peerId, reason, detail });
  }

  /**
   * Queues an envelope until its block arrives, or validates the envelope again if the block has arrived already.
   * Returns false if the queue is full.
   */
  #hold(arrival: Arrival): boolean {
    const { chain, unknownBlocks } = this.#parts;
    const { message } = arrival;
    const { peerId, bytes } = message;
    const root = rootOf(message);
    if (this.#isClosed || this.#bytesWaiting + bytes > this.#limits.waiting.maxBytes) return false;
    if (chain.forkChoice.has(root)) {
      this.#run(arrival);
      return true;
    }
    const outcome = this.#waiting.hold(root, arrival, peerId, chain.clock.currentSlot);
    if (outcome === "full") return false;
    this.#bytesWaiting += bytes;
    if (outcome === "first" && !chain.isImporting(root)) unknownBlocks.onUnknownBlock(root, peerId);
    return true;
  }

  #onBlock(root: RootHex): void {
    for (const arrival of this.#dequeued(this.#waiting.release(root))) this.#run(arrival);
  }

  #onSlot(slot: Slot): void {
    this.#ignore(this.#waiting.expire(slot));
  }

  #ignore(arrivals: readonly Arrival[]): void {
    for (const { message } of this.#dequeued(arrivals)) message.report("ignore");
  }

  #dequeued(arrivals: readonly Arrival[]): readonly Arrival[] {
    for (const { message } of arrivals) this.#bytesWaiting -= message.bytes;
    return arrivals;
  }
}

const rootOf = ({ object }: EnvelopeMessage): RootHex => toRootHex(object.message.beaconBlockRoot);
