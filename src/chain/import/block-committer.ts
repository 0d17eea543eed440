import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_HISTORICAL_ROOT } from "@lodestar/params";
import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { DataSidecar } from "../../data/sidecar.ts";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import { serializeSignedBlock } from "../blocks/block-encoding.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import { attestationDueShare, momentOfSlot } from "../clock/moment-of-slot.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { withPayloadStatus } from "../fork-choice/payload-status.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import type { StateStore } from "../states/state-store.ts";
import { putBlockFacts } from "../stored-fork-choice.ts";
import { blaming } from "./block-rejection.ts";
import { checkBeforeTransition } from "./cheap-checks.ts";
import { applyBlockAttestations, toForkChoiceBlock } from "./fork-choice-import.ts";
import type { VerifiedBlock } from "./verify-block.ts";

interface BlockToCommit {
  verified: VerifiedBlock;
  block: ForkChoiceBlock;
}

export interface BlockCommitterParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Clock;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  states: StateStore;
  data: DataAvailability;
}

/**
 * Makes verified blocks part of the chain. The database comes before fork choice, so that whatever the node builds on is
 * there after a crash. Calls must not overlap; the chain queues them.
 */
export class BlockCommitter {
  readonly #parts: BlockCommitterParts;

  constructor(parts: BlockCommitterParts) {
    this.#parts = parts;
  }

  /**
   * Takes a run of blocks, each the child of the one before, in one write to the database. Throws a `BlockRejection` when
   * finality has passed them in the meantime, or the pool has let go of their data.
   */
  async commit(run: readonly VerifiedBlock[]): Promise<void> {
    const first = run[0];
    if (!first) return;
    const { db, forkChoice, data } = this.#parts;
    const parent = this.#requireFit(first);
    for (const block of run) data.requireAvailable(block);
    const pooled = new Map(run.map(({ root }) => [root, data.pool.all(root)]));
    const batch = db.batch();
    const blocks = this.#withJointStatus(
      run.map((verified) => ({ verified, block: toForkChoiceBlock(verified) })),
      parent,
    );
    if (blocks[0]?.block.execution.status === "valid") {
      for (const ancestor of forkChoice.optimisticAncestors(parent.root)) {
        if (forkChoice.isHot(ancestor)) putBlockFacts(batch, withPayloadStatus(ancestor, "valid"));
      }
    }
    let before = parent;
    for (const { verified, block } of blocks) {
      this.#store(batch, verified, { block, parent: before });
      await data.store(batch, block, pooled.get(block.root) ?? []);
      verified.alongside?.(batch);
      before = block;
    }
    await batch.write();
    try {
      this.#requireFit(first);
    } catch (error) {
      await this.#abandon(run, pooled);
      throw error;
    }
    for (const { verified, block } of blocks) {
      this.#addToForkChoice(verified, block, { timely: this.#isTimely(verified) });
      data.pool.delete(block.root, pooled.get(block.root));
    }
  }

  /**
   * A valid payload makes those before it valid, as fork choice will find when it takes the blocks. One that stands on the first
   * payload of a chain does so only with a judgement of the terminal block, which is made when the engine is told of the head.
   */
  #withJointStatus(run: readonly BlockToCommit[], parent: ForkChoiceBlock): BlockToCommit[] {
    const { forkChoice } = this.#parts;
    const chain = [...forkChoice.optimisticAncestors(parent.root).reverse(), ...run.map(({ block }) => block)];
    const oldest = chain.findIndex(({ execution }) => execution.status === "optimistic");
    const beforeOldest = chain[oldest - 1] ?? forkChoice.get(chain[oldest]?.parentRoot ?? "");
    const isMergeUnjudged = beforeOldest?.execution.status === "pre-merge";
    const lastValid = run.findLastIndex(({ block }) => block.execution.status === "valid");
    const status = isMergeUnjudged ? "optimistic" : "valid";
    return run.map(({ verified, block }, index) => ({
      verified,
      block: index <= lastValid ? withPayloadStatus(block, status) : block,
    }));
  }

  /** Time goes on during verification and the write, and a tick can finalize. What the first block is fit for, all are. */
  #requireFit({ signed, root }: VerifiedBlock): ForkChoiceBlock {
    const { forkChoice, clock } = this.#parts;
    // The slot may have begun without having been announced yet: announcements are late when the process is busy.
    forkChoice.onTick(clock.currentSlot);
    try {
      return checkBeforeTransition(signed.message, this.#parts);
    } catch (error) {
      throw blaming(error, { slot: signed.message.slot, root });
    }
  }

  /** Leaves the blocks as finality leaves those of other branches: stored, but on no chain and without data. */
  async #abandon(run: readonly VerifiedBlock[], stored: ReadonlyMap<RootHex, readonly DataSidecar[]>): Promise<void> {
    const batch = this.#parts.db.batch();
    for (const { signed, root } of run) {
      const { slot } = signed.message;
      batch.hotBlocks.delete(slot, root);
      const indices = stored.get(root)?.map(({ index }) => index) ?? [];
      batch.data.delete({ slot, root }, indices);
    }
    await batch.write();
  }

  /** For a block that the database has already. */
  restore(verified: VerifiedBlock): void {
    this.#addToForkChoice(verified, toForkChoiceBlock(verified), { timely: false });
  }

  #addToForkChoice(
    { signed, root, state, indexedAttestations }: VerifiedBlock,
    block: ForkChoiceBlock,
    { timely }: { timely: boolean },
  ): void {
    const { forkChoice, blocks, states } = this.#parts;
    forkChoice.onBlock(block, { timely });
    blocks.remember(root, signed);
    states.hold(root, state);
    applyBlockAttestations(forkChoice, signed.message, indexedAttestations);
  }

  /** Proposer boost is for blocks that came before attesting was due (fork-choice.md, record_block_timeliness). */
  #isTimely({ signed, arrivedAt }: VerifiedBlock): boolean {
    const { clock, config } = this.#parts;
    return arrivedAt < momentOfSlot(clock, signed.message.slot, attestationDueShare(config));
  }

  #store(
    batch: BeaconDbBatch,
    { signed, state }: VerifiedBlock,
    { block, parent }: { block: ForkChoiceBlock; parent: ForkChoiceBlock },
  ): void {
    const { slot, root, stateRoot } = block;
    batch.blocks.put(root, serializeSignedBlock(this.#parts.config, signed));
    putBlockFacts(batch, block);
    batch.stateIndex.put(stateRoot, { slot, blockRoot: root });
    // This block confirms the slots since its parent as empty; their states can be asked for by root, too.
    for (let empty = Math.max(parent.slot + 1, slot - SLOTS_PER_HISTORICAL_ROOT); empty < slot; empty++) {
      const emptySlotRoot = state.stateRoots.get(empty % SLOTS_PER_HISTORICAL_ROOT);
      batch.stateIndex.put(toRootHex(emptySlotRoot), { slot: empty, blockRoot: parent.root });
    }
  }
}
