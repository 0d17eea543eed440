import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { outcomeOf } from "../../chain/validation/outcome.ts";
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
  };
  unknownBlocks: Pick<UnknownBlocks, "onUnknownBlock">;
  /** Whether a block is on its way in, so that nobody has to be asked for it. */
  isImporting(root: RootHex): boolean;
  logger: Logger;
}

interface SidecarLimits {
  /** Of what is being verified. */
  maxCount: number;
  maxBytes: number;
  /** Of what waits for the parent of its block. */
  waiting: ReprocessLimits & { maxBytes: number };
}

/** All columns of four blocks. What waits has not passed all rules: any validator can sign blocks for it, so that there is less room. */
const LIMITS: SidecarLimits = {
  maxCount: 512,
  maxBytes: 64 << 20,
  waiting: { maxRoots: 16, maxItems: 256, maxRootsPerPeer: 4, maxItemsPerPeer: 128, maxBytes: 32 << 20 },
};

export function isSidecarKind(kind: TopicKind): kind is "blob_sidecar" | "data_column_sidecar" {
  return kind === "blob_sidecar" || kind === "data_column_sidecar";
}

/**
 * Gives the sidecars of gossip to the chain and reports what the rules say. They are large, and come by the hundred at once: what is
 * beyond the limits is ignored, and is asked for when its block turns out to need it.
 */
export class SidecarHandler {
  readonly #parts: SidecarHandlerParts;
  readonly #limits: SidecarLimits;
  readonly #underWay = new Set<Promise<void>>();
  readonly #waiting: ReprocessQueue<SidecarMessage>;
  #bytesUnderWay = 0;
  #bytesWaiting = 0;
  #endings: (() => void)[] = [];
  #isClosed = false;

  constructor(parts: SidecarHandlerParts, limits = LIMITS) {
    this.#parts = parts;
    this.#limits = limits;
    this.#waiting = new ReprocessQueue(limits.waiting);
  }

  start(): void {
    const { events, clock } = this.#parts.chain;
    this.#endings = [events.on("block", ({ root }) => this.#onBlock(root)), clock.onSlot((slot) => this.#onSlot(slot))];
  }

  /** Ends when nothing is being verified. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#endings.splice(0)) end();
    this.#ignore(this.#waiting.clear());
    await Promise.all(this.#underWay);
  }

  handle(message: SidecarMessage): void {
    const { maxCount, maxBytes } = this.#limits;
    if (this.#isClosed || this.#underWay.size >= maxCount || this.#bytesUnderWay + message.bytes > maxBytes) {
      message.report("ignore");
      return;
    }
    this.#bytesUnderWay += message.bytes;
    const run = this.#process(message).finally(() => {
      this.#underWay.delete(run);
      this.#bytesUnderWay -= message.bytes;
    });
    this.#underWay.add(run);
  }

  async #process(message: SidecarMessage): Promise<void> {
    const { chain, logger } = this.#parts;
    const { topic, object, peerId } = message;
    try {
      const outcome = await outcomeOf(() => chain.sidecars.process(object, topic.subnet));
      const verdict = outcome.ok ? "accept" : this.#verdictOn(message, outcome.refusal);
      if (verdict !== undefined) message.report(verdict);
    } catch (error) {
      logger.error("A sidecar could not be validated", { topic: topic.kind, peer: peerId, error });
      message.report("ignore");
    }
  }

  /** Undefined for one that waits. */
  #verdictOn(message: SidecarMessage, { action, reason }: { action: Verdict; reason: string }): Verdict | undefined {
    const { topic, object, peerId } = message;
    if (action === "reject") {
      const { slot } = object.signedBlockHeader.message;
      this.#parts.logger.debug("A sidecar was rejected", { topic: topic.kind, slot, peer: peerId, reason });
    }
    return reason === "unknown-parent" && this.#hold(message) ? undefined : action;
  }

  /** Whether it waits for the parent of its block, or is validated again because the parent came meanwhile. */
  #hold(message: SidecarMessage): boolean {
    const { chain, unknownBlocks, isImporting } = this.#parts;
    const { object, peerId, bytes } = message;
    const parent = toRootHex(object.signedBlockHeader.message.parentRoot);
    if (this.#isClosed || this.#bytesWaiting + bytes > this.#limits.waiting.maxBytes) return false;
    if (chain.forkChoice.has(parent)) {
      this.handle(message);
      return true;
    }
    const held = this.#waiting.hold(parent, message, peerId, chain.clock.currentSlot);
    if (held === "full") return false;
    this.#bytesWaiting += bytes;
    if (held === "first" && !isImporting(parent)) unknownBlocks.onUnknownBlock(parent, peerId);
    return true;
  }

  #onBlock(root: RootHex): void {
    for (const message of this.#left(this.#waiting.release(root))) this.handle(message);
  }

  #onSlot(slot: Slot): void {
    this.#ignore(this.#waiting.expire(slot));
  }

  #ignore(messages: readonly SidecarMessage[]): void {
    for (const message of this.#left(messages)) message.report("ignore");
  }

  /** Those wait no longer. */
  #left(messages: readonly SidecarMessage[]): readonly SidecarMessage[] {
    for (const { bytes } of messages) this.#bytesWaiting -= bytes;
    return messages;
  }
}
