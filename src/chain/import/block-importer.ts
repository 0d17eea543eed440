import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_HISTORICAL_ROOT } from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { Failure } from "../../errors.ts";
import type { ExecutionEngine } from "../../execution/engine.ts";
import { serializeSignedBlock } from "../blocks/block-bytes.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { StateStore } from "../states/state-store.ts";
import { BlockRejection } from "./block-rejection.ts";
import { checkBeforeTransition } from "./cheap-checks.ts";
import { toForkChoiceBlock } from "./fork-choice-block.ts";
import { voteWithBlock } from "./fork-choice-votes.ts";
import { verifyBlock } from "./verify-block.ts";

export interface ImportedBlock {
  root: RootHex;
  /** The node had this block already; nothing was done. */
  known: boolean;
}

export interface BlockImporterParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Clock;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  states: StateStore;
  bls: BlsVerifier;
  engine: ExecutionEngine;
}

/**
 * Takes one block onto the chain: cheap checks, state transition and all signatures in one batch, database, fork
 * choice. The database comes before fork choice, so that whatever the node builds on is there after a crash.
 * Calls must not overlap; the chain queues them.
 */
export class BlockImporter {
  readonly #parts: BlockImporterParts;

  constructor(parts: BlockImporterParts) {
    this.#parts = parts;
  }

  /** Imports a block from outside. Throws a `BlockRejection` and leaves the chain as it was when it is not valid. */
  async import(signed: SignedBeaconBlock, root: RootHex): Promise<ImportedBlock> {
    const { forkChoice, clock } = this.#parts;
    if (forkChoice.has(root)) return { root, known: true };
    checkBeforeTransition(signed.message, { forkChoice, clock });
    const postState = await this.#transition(signed, { verifySignatures: true });
    await this.#store(signed, root, postState.state);
    this.#addToForkChoice(signed, root, postState);
    return { root, known: false };
  }

  /** Takes a block of our own database back into fork choice. It was verified when it was stored. */
  async restore(signed: SignedBeaconBlock, root: RootHex): Promise<void> {
    const postState = await this.#transition(signed, { verifySignatures: false });
    this.#addToForkChoice(signed, root, postState);
  }

  async #transition(signed: SignedBeaconBlock, { verifySignatures }: { verifySignatures: boolean }) {
    const { config, states, bls, engine } = this.#parts;
    const { slot, parentRoot } = signed.message;
    const preState = await states.afterBlock(toRootHex(parentRoot), slot).catch((error: unknown) => {
      if (!(error instanceof Failure) || error.kind !== "not-found") throw error;
      // The chain was started from a state that was already advanced past this slot.
      throw new BlockRejection("before-history", `The state before the block is not known. ${error.message}`, error);
    });
    return verifyBlock(signed, preState, { config, bls: verifySignatures ? bls : null, engine });
  }

  async #store(signed: SignedBeaconBlock, root: RootHex, postState: CachedBeaconStateAllForks): Promise<void> {
    const { config, db, forkChoice } = this.#parts;
    const { slot, parentRoot, stateRoot } = signed.message;
    const parent = forkChoice.get(toRootHex(parentRoot));
    if (!parent) throw new BlockRejection("unknown-parent", "The parent left the chain while the block was verified.");
    const batch = db.batch();
    batch.blocks.put(root, serializeSignedBlock(config, signed));
    batch.hotBlocks.put(slot, root, parent.root);
    batch.stateIndex.put(toRootHex(stateRoot), { slot, blockRoot: root });
    // This block confirms the slots since its parent as empty; their states can be asked for by root, too.
    for (let empty = Math.max(parent.slot + 1, slot - SLOTS_PER_HISTORICAL_ROOT); empty < slot; empty++) {
      const emptySlotRoot = postState.stateRoots.get(empty % SLOTS_PER_HISTORICAL_ROOT);
      batch.stateIndex.put(toRootHex(emptySlotRoot), { slot: empty, blockRoot: parent.root });
    }
    await batch.write();
  }

  #addToForkChoice(signed: SignedBeaconBlock, root: RootHex, verified: Awaited<ReturnType<typeof verifyBlock>>): void {
    const { clock, forkChoice, blocks, states } = this.#parts;
    const { slot } = signed.message;
    blocks.remember(root, signed);
    states.hold(root, verified.state);
    const sinceSlotStart = clock.nowSeconds() - clock.slotStartSeconds(slot);
    // Proposer boost is for blocks that came before attesting was due (fork-choice.md, record_block_timeliness).
    const timely = slot === clock.currentSlot && sinceSlotStart < clock.secondsPerSlot / 3;
    forkChoice.onBlock(toForkChoiceBlock(signed.message, root, verified), { timely });
    voteWithBlock(forkChoice, signed.message, verified.indexedAttestations);
  }
}
