import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { blockRoot } from "../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { BlockRejection, isHeld, isNodeStopping, type RejectionReason } from "../../chain/import/block-rejection.ts";
import { type ValidatedBlock, validateGossipBlock } from "../../chain/validation/block.ts";
import { GossipValidationError } from "../../chain/validation/outcome.ts";
import type { Logger } from "../../log/logger.ts";
import type { PeerReporter } from "../peers/peer-scores.ts";
import type { ReceivedMessage } from "./message-types.ts";
import { type ReprocessLimits, ReprocessQueue } from "./reprocess-queue.ts";

type BlockMessage = ReceivedMessage<"beacon_block">;

/** Receives references to unknown blocks. */
export interface UnknownBlocks {
  /** Called for a block with a valid proposer signature whose parent is unknown. */
  onUnknownParent(signed: SignedBeaconBlock, peerId: string): void;
  /** Called for an attestation or sidecar that refers to an unknown block. */
  onUnknownBlock(root: RootHex, peerId: string): void;
  /** Called for an attestation to a payload that has not arrived, or for a block that is built on it. */
  onUnknownPayload(root: RootHex, peerId: string): void;
}

interface BlockHandlerParts {
  chain: Pick<BeaconChain, "validation" | "importBlock" | "untilImportEnds"> & {
    clock: Pick<BeaconChain["clock"], "nowSeconds" | "currentSlot" | "onSlot">;
    events: Pick<BeaconChain["events"], "publish" | "on">;
  };
  unknownBlocks: UnknownBlocks;
  reporter: PeerReporter;
  logger: Logger;
}

const MAX_BLOCKS_IN_FLIGHT = 64;
/** Blocks with a valid proposer signature that wait for the payload of their parent. */
const WAITING: ReprocessLimits = { maxRoots: 16, maxItems: 32, maxRootsPerPeer: 8, maxItemsPerPeer: 8 };

/** Rejections that prove a block to be invalid even though its proposer signature is valid. */
const INVALID_BLOCK_REASONS: ReadonlySet<RejectionReason> = new Set([
  "wrong-proposer",
  "invalid-signature",
  "wrong-state-root",
  "invalid-transition",
]);

/**
 * Handles blocks from gossip. A block is forwarded once it passes gossip validation, and then imported. A block that is
 * built on a payload which has not been verified waits for it.
 */
export class BlockHandler {
  readonly #parts: BlockHandlerParts;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #awaitingPayload = new ReprocessQueue<BlockMessage>(WAITING);
  #unsubscribes: (() => void)[] = [];

  constructor(parts: BlockHandlerParts) {
    this.#parts = parts;
  }

  start(): void {
    const { events, clock } = this.#parts.chain;
    this.#unsubscribes = [
      events.on("payload", ({ root }) => {
        for (const message of this.#awaitingPayload.release(root)) this.handle(message);
      }),
      clock.onSlot((slot) => {
        for (const message of this.#awaitingPayload.expire(slot)) message.report("ignore");
      }),
    ];
  }

  handle(message: BlockMessage): void {
    if (this.#inFlight.size >= MAX_BLOCKS_IN_FLIGHT) {
      message.report("ignore");
      return;
    }
    const run = this.#handle(message)
      .catch((error) => this.#parts.logger.error("Could not handle block", { peer: message.peerId, error }))
      .finally(() => this.#inFlight.delete(run));
    this.#inFlight.add(run);
  }

  /** Waits for blocks that are still being processed. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
    for (const message of this.#awaitingPayload.clear()) message.report("ignore");
    await Promise.all(this.#inFlight);
  }

  async #handle(message: BlockMessage): Promise<void> {
    const { chain } = this.#parts;
    const arrivedAt = chain.clock.nowSeconds();
    const block = await this.#validate(message);
    if (block === undefined) return;
    const { signed, root } = block;
    chain.events.publish("blockGossip", { slot: signed.message.slot, root, signed });
    message.report("accept");
    await this.#import(message, block, arrivedAt);
  }

  /** Returns the block if it is valid. Otherwise reports the verdict and returns undefined. */
  async #validate(message: BlockMessage): Promise<ValidatedBlock | undefined> {
    const { chain, unknownBlocks, logger } = this.#parts;
    const { object: signed, peerId } = message;
    try {
      // On a slow network, the blocks of consecutive slots may arrive together.
      await chain.untilImportEnds(toRootHex(signed.message.parentRoot));
      return await validateGossipBlock(chain.validation, signed);
    } catch (error) {
      if (!(error instanceof GossipValidationError)) {
        logger.error("Could not validate block", { slot: signed.message.slot, peer: peerId, error });
        message.report("ignore");
        return undefined;
      }
      const { action, reason } = error;
      if (action === "reject") this.#warn(message, blockRoot(chain.validation.config, signed.message), error);
      else if (!error.known) logger.debug("Ignored block", { slot: signed.message.slot, peer: peerId, reason });
      if (reason === "unknown-parent-payload" && this.#hold(message)) return undefined;
      message.report(action);
      if (reason === "unknown-parent") unknownBlocks.onUnknownParent(signed, peerId);
      return undefined;
    }
  }

  /**
   * Queues a block until the payload of its parent arrives, or validates the block again if it has arrived already.
   * Returns false if the queue is full.
   */
  #hold(message: BlockMessage): boolean {
    const { chain, unknownBlocks } = this.#parts;
    const parentRoot = toRootHex(message.object.message.parentRoot);
    if (chain.validation.forkChoice.isPayloadVerified(parentRoot)) {
      this.handle(message);
      return true;
    }
    const outcome = this.#awaitingPayload.hold(parentRoot, message, message.peerId, chain.clock.currentSlot);
    if (outcome === "first") unknownBlocks.onUnknownPayload(parentRoot, message.peerId);
    return outcome !== "full";
  }

  async #import(message: BlockMessage, block: ValidatedBlock, arrivedAt: number): Promise<void> {
    const { chain, reporter, logger } = this.#parts;
    const { peerId } = message;
    const { signed, root } = block;
    try {
      // Waiting for the data would also delay descendants, which would fill up the import queue.
      await chain.importBlock(block, { arrivedAt, waitsForData: false });
    } catch (error) {
      if (!(error instanceof BlockRejection)) {
        logger.error("Could not import block", { slot: signed.message.slot, peer: peerId, error });
        return;
      }
      // The chain keeps such a block and has logged the reason.
      if (isHeld(error)) return;
      if (isNodeStopping(error)) {
        logger.debug("Dropped block during shutdown", { slot: signed.message.slot, peer: peerId });
        return;
      }
      this.#warn(message, root, error);
      // The penalty is only moderate, because peers forward blocks before importing them, as the protocol allows.
      if (INVALID_BLOCK_REASONS.has(error.reason))
        reporter.penalize(peerId, "moderate", `invalid block: ${error.reason}`);
    }
  }

  #warn({ object, peerId }: BlockMessage, root: RootHex, refusal: GossipValidationError | BlockRejection): void {
    const { slot } = object.message;
    const { reason, message: detail } = refusal;
    this.#parts.logger.warn("Rejected block from peer", { slot, root, peer: peerId, reason, detail });
  }
}
