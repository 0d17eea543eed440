import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { outcomeOf } from "../../chain/validation/outcome.ts";
import { hasHeader, slotOfSidecar } from "../../data/sidecar.ts";
import type { Logger } from "../../log/logger.ts";
import type { UnknownBlocks } from "./block-handler.ts";
import type { ReceivedMessage, Verdict } from "./message-types.ts";
import { type ReprocessLimits, ReprocessQueue } from "./reprocess-queue.ts";
import type { TopicKind } from "./topics.ts";

export type SidecarMessage = ReceivedMessage<"blob_sidecar" | "data_column_sidecar">;

interface SidecarHandlerParts {
  chain: {
    sidecars: Pick<BeaconChain["sidecars"], "process">;
    clock: Pick<BeaconChain["clock"], "currentSlot" | "onSlot">;
    events: Pick<BeaconChain["events"], "on">;
    forkChoice: Pick<BeaconChain["forkChoice"], "has">;
    isImporting: BeaconChain["isImporting"];
  };
  unknownBlocks: Pick<UnknownBlocks, "onUnknownBlock">;
  logger: Logger;
}

interface SidecarLimits {
  /** Limits for sidecars that are being verified. */
  maxCount: number;
  maxBytes: number;
  /** Limits for sidecars waiting for the parent of their block or, since gloas, for their block. */
  waiting: ReprocessLimits & { maxBytes: number };
}

/**
 * Room for all columns of four blocks. The limit for waiting sidecars is lower, because they have not passed all rules
 * and any validator can sign blocks for them.
 */
const LIMITS: SidecarLimits = {
  maxCount: 512,
  maxBytes: 64 << 20,
  waiting: { maxRoots: 16, maxItems: 256, maxRootsPerPeer: 4, maxItemsPerPeer: 128, maxBytes: 32 << 20 },
};

export function isSidecarKind(kind: TopicKind): kind is "blob_sidecar" | "data_column_sidecar" {
  return kind === "blob_sidecar" || kind === "data_column_sidecar";
}

/**
 * Passes sidecars from gossip to the chain and reports the verdicts. Sidecars beyond the limits are ignored, and
 * requested later if their block needs them.
 */
export class SidecarHandler {
  readonly #parts: SidecarHandlerParts;
  readonly #limits: SidecarLimits;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #waiting: ReprocessQueue<SidecarMessage>;
  #bytesInFlight = 0;
  #bytesWaiting = 0;
  #unsubscribes: (() => void)[] = [];
  #isClosed = false;

  constructor(parts: SidecarHandlerParts, limits = LIMITS) {
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

  /** Waits for sidecars that are still being verified. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
    this.#ignore(this.#waiting.clear());
    await Promise.all(this.#inFlight);
  }

  handle(message: SidecarMessage): void {
    const { maxCount, maxBytes } = this.#limits;
    if (this.#isClosed || this.#inFlight.size >= maxCount || this.#bytesInFlight + message.bytes > maxBytes) {
      message.report("ignore");
      return;
    }
    this.#bytesInFlight += message.bytes;
    const run = this.#process(message).finally(() => {
      this.#inFlight.delete(run);
      this.#bytesInFlight -= message.bytes;
    });
    this.#inFlight.add(run);
  }

  async #process(message: SidecarMessage): Promise<void> {
    const { chain, logger } = this.#parts;
    const { topic, object, peerId } = message;
    try {
      const outcome = await outcomeOf(() => chain.sidecars.process(object, topic.subnet));
      const verdict = outcome.ok ? "accept" : this.#verdictOn(message, outcome.refusal);
      if (verdict !== undefined) message.report(verdict);
    } catch (error) {
      logger.error("Could not validate sidecar", { topic: topic.kind, peer: peerId, error });
      message.report("ignore");
    }
  }

  /** Returns undefined for a sidecar waiting for a block. */
  #verdictOn(message: SidecarMessage, { action, reason }: { action: Verdict; reason: string }): Verdict | undefined {
    const { topic, object, peerId } = message;
    if (action === "reject") {
      const slot = slotOfSidecar(object);
      this.#parts.logger.debug("Rejected sidecar", { topic: topic.kind, slot, peer: peerId, reason });
    }
    const isEarly = reason === "unknown-parent" || reason === "unknown-block";
    return isEarly && this.#hold(message) ? undefined : action;
  }

  /**
   * Queues a sidecar until the parent of its block arrives or, since gloas, the block itself. Validates the sidecar
   * again if that block has arrived already. Returns false if the queue is full.
   */
  #hold(message: SidecarMessage): boolean {
    const { chain, unknownBlocks } = this.#parts;
    const { object, peerId, bytes } = message;
    const root = hasHeader(object)
      ? toRootHex(object.signedBlockHeader.message.parentRoot)
      : toRootHex(object.beaconBlockRoot);
    if (this.#isClosed || this.#bytesWaiting + bytes > this.#limits.waiting.maxBytes) return false;
    if (chain.forkChoice.has(root)) {
      this.handle(message);
      return true;
    }
    const outcome = this.#waiting.hold(root, message, peerId, chain.clock.currentSlot);
    if (outcome === "full") return false;
    this.#bytesWaiting += bytes;
    if (outcome === "first" && !chain.isImporting(root)) unknownBlocks.onUnknownBlock(root, peerId);
    return true;
  }

  #onBlock(root: RootHex): void {
    for (const message of this.#dequeued(this.#waiting.release(root))) this.handle(message);
  }

  #onSlot(slot: Slot): void {
    this.#ignore(this.#waiting.expire(slot));
  }

  #ignore(messages: readonly SidecarMessage[]): void {
    for (const message of this.#dequeued(messages)) message.report("ignore");
  }

  /** Subtracts the bytes of messages that are no longer waiting. */
  #dequeued(messages: readonly SidecarMessage[]): readonly SidecarMessage[] {
    for (const { bytes } of messages) this.#bytesWaiting -= bytes;
    return messages;
  }
}
