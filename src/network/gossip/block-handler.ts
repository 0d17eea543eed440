import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { blockRoot } from "../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { BlockRejection, isHeld, isOfStop, type RejectionReason } from "../../chain/import/block-rejection.ts";
import { validateGossipBlock } from "../../chain/validation/block.ts";
import { GossipRefusal } from "../../chain/validation/outcome.ts";
import type { Logger } from "../../log/logger.ts";
import type { PeerReporter } from "../peers/peer-scores.ts";
import type { ReceivedMessage } from "./message-types.ts";

type BlockMessage = ReceivedMessage<"beacon_block">;

/** Told about blocks that gossip refers to and this node does not have. */
export interface UnknownBlocks {
  /** A block that its proposer signed, and whose parent is not known. */
  onUnknownParent(signed: SignedBeaconBlock, peerId: string): void;
  /** An attestation to a block that is not known. */
  onUnknownBlock(root: RootHex, peerId: string): void;
}

interface BlockHandlerParts {
  chain: Pick<BeaconChain, "validation" | "importBlock"> & {
    clock: Pick<BeaconChain["clock"], "nowSeconds">;
    events: Pick<BeaconChain["events"], "publish">;
  };
  unknownBlocks: UnknownBlocks;
  reporter: PeerReporter;
  logger: Logger;
}

const MAX_BLOCKS_UNDER_WAY = 64;

/** Why a block that its proposer signed is nevertheless a block that nobody may pass on knowingly. */
const WRONG_BLOCK: ReadonlySet<RejectionReason> = new Set([
  "wrong-proposer",
  "invalid-signature",
  "wrong-state-root",
  "invalid-transition",
]);

/** Takes blocks from gossip: propagated as soon as the rules of gossip are passed, then imported. */
export class BlockHandler {
  readonly #parts: BlockHandlerParts;
  readonly #underWay = new Set<Promise<void>>();
  /** Blocks that passed the rules and are being imported. */
  readonly #imports = new Map<RootHex, Promise<void>>();

  constructor(parts: BlockHandlerParts) {
    this.#parts = parts;
  }

  handle(message: BlockMessage): void {
    if (this.#underWay.size >= MAX_BLOCKS_UNDER_WAY) {
      message.report("ignore");
      return;
    }
    const run = this.#take(message)
      .catch((error) => this.#parts.logger.error("A block could not be handled", { peer: message.peerId, error }))
      .finally(() => this.#underWay.delete(run));
    this.#underWay.add(run);
  }

  /** Whether the block passed the rules and will soon be there. */
  isImporting(root: RootHex): boolean {
    return this.#imports.has(root);
  }

  /** Ends when no block is under way. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #take(message: BlockMessage): Promise<void> {
    const { chain } = this.#parts;
    const arrivedAt = chain.clock.nowSeconds();
    const root = await this.#validated(message);
    if (root === undefined) return;
    const { object: signed } = message;
    chain.events.publish("blockGossip", { slot: signed.message.slot, root, signed });
    message.report("accept");
    const imported = this.#import(message, root, arrivedAt).finally(() => this.#imports.delete(root));
    this.#imports.set(root, imported);
    await imported;
  }

  /** The root of a block that passes the rules; any other is reported as what it is. */
  async #validated(message: BlockMessage): Promise<RootHex | undefined> {
    const { chain, unknownBlocks, logger } = this.#parts;
    const { object: signed, peerId } = message;
    try {
      // Blocks of neighbouring slots may come at once, when the network was slow.
      await this.#imports.get(toRootHex(signed.message.parentRoot));
      const { root } = await validateGossipBlock(chain.validation, signed);
      return root;
    } catch (error) {
      if (!(error instanceof GossipRefusal)) {
        logger.error("A block could not be validated", { slot: signed.message.slot, peer: peerId, error });
        message.report("ignore");
        return undefined;
      }
      const { action, reason } = error;
      if (action === "reject") this.#warn(message, blockRoot(chain.validation.config, signed.message), error);
      else if (!error.known) logger.debug("A block is ignored", { slot: signed.message.slot, peer: peerId, reason });
      message.report(action);
      if (reason === "unknown-parent") unknownBlocks.onUnknownParent(signed, peerId);
      return undefined;
    }
  }

  async #import(message: BlockMessage, root: RootHex, arrivedAt: number): Promise<void> {
    const { chain, reporter, logger } = this.#parts;
    const { object: signed, peerId } = message;
    try {
      // What is said to build on it would wait along, and take all the room for blocks.
      await chain.importBlock(signed, { arrivedAt, waitsForData: false });
    } catch (error) {
      if (!(error instanceof BlockRejection)) {
        logger.error("A block could not be imported", { slot: signed.message.slot, peer: peerId, error });
        return;
      }
      // The chain keeps such a block, and has said so.
      if (isHeld(error)) return;
      if (isOfStop(error)) {
        logger.debug("A block is left, since the node stops", { slot: signed.message.slot, peer: peerId });
        return;
      }
      this.#warn(message, root, error);
      // Whoever passed it on had not imported it either: honest nodes must not lose each other over a bad proposer.
      if (WRONG_BLOCK.has(error.reason)) reporter.penalize(peerId, "moderate", `invalid block: ${error.reason}`);
    }
  }

  #warn({ object, peerId }: BlockMessage, root: RootHex, refusal: GossipRefusal | BlockRejection): void {
    const { slot } = object.message;
    const { reason, message: detail } = refusal;
    this.#parts.logger.warn("A block of a peer is refused", { slot, root, peer: peerId, reason, detail });
  }
}
